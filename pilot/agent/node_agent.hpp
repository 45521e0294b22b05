// The agent of one node: runs the services that the head agent asks for, watches them whether or not the
// head is there, and ends when the head releases the node, when it is told to (SIGUSR2 and SIGTERM: the
// allocation is ending), or when the pilot is gone.  One of them keeps the head running: rank 0 of the base
// allocation, and when that node is gone the next in line (succession.hpp).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "pilot/agent/head_link.hpp"
#include "pilot/agent/succession.hpp"
#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

struct NodeTiming {
  LinkTiming link;
  SuccessionTiming succession;
  Duration heartbeat = std::chrono::seconds(1);
  Duration repeat = std::chrono::seconds(2);  // what is not acknowledged is sent again
  Duration repeat_into_silence = std::chrono::seconds(5);
  Duration look_around = std::chrono::seconds(5);   // whether the pilot still exists
  Duration acknowledge = std::chrono::seconds(10);  // of having been released
  Duration head_end = std::chrono::seconds(20);     // for the head to end by itself after that
};

struct NodeOptions {
  std::filesystem::path pilot_dir;
  std::string allocation;  // "a0"
  int rank = 0;
  std::string node;     // "node-1"
  std::string address;  // where its services listen
  std::string rack;     // what fails with it; empty: unknown
  int cores = 1;
  Bytes memory;
  std::filesystem::path scratch;        // made if it does not exist; removed at the end
  std::filesystem::path agent_program;  // pilot-agent, for the head
  bool keep_head = false;               // from the start, unless another node keeps it by now
  NodeTiming timing;
};

class NodeAgent {
 public:
  // Reads the pilot's log and the node's record and goes to work.  `on_end` is called once, from the
  // loop, with the program's exit code.  Errors: the pilot's folder, or the scratch folder, can't be used.
  static Result<std::unique_ptr<NodeAgent>> begin(EventLoop& loop, const Clock& clock, NodeOptions options,
                                                  std::function<void(int)> on_end);
  ~NodeAgent();

  // The allocation is ending: stops the services in order, cleans up and ends.
  void shut_down(const std::string& reason);
  // The allocation ends within seconds, as a batch system's TERM says: what does not stop at once is killed,
  // so that scratch is clean before we are killed ourselves.
  void end_now(const std::string& reason);

 private:
  struct Impl;
  explicit NodeAgent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::agent
