// The head agent: the shell around HeadCore, which does what the core decides.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "pilot/agent/head_core.hpp"
#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/plugin/registry.hpp"
#include "pilot/plugin/software.hpp"

namespace pilot::agent {

// The installed copy of a framework; may take a moment (it is called outside the loop).
using SoftwareLocator = std::function<Result<plugin::Software>(const std::string& framework)>;

struct HeadOptions {
  std::filesystem::path pilot_dir;
  std::string node;                     // whose agent keeps it running; may be empty
  std::string address;                  // where it listens; empty: where the last one did, or 127.0.0.1
  std::uint16_t port = 0;               // tried first after the last one's; 0: any of the pilot's range
  std::filesystem::path agent_program;  // pilot-agent, for nodes whose agent died
  std::filesystem::path tools_folder;   // our own programs, for plans
  HeadTiming timing;
  Duration tick = std::chrono::milliseconds(250);
  Duration look_for_mail = std::chrono::seconds(1);  // from clients that the network does not lead here
  Duration wait_for_log = std::chrono::seconds(30);  // while another process writes it
};

class HeadAgent {
 public:
  // Goes to work as soon as the event log is free.  `on_end` is called once, from the loop, with the
  // program's exit code: 0, the pilot has ended; else start it again.
  HeadAgent(EventLoop& loop, const Clock& clock, HeadOptions options, plugin::Registry& registry,
            SoftwareLocator locate, std::function<void(int)> on_end);
  ~HeadAgent();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::agent
