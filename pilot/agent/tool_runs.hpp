// The tools of frameworks that the head runs: what moves data, checks them, takes a node out of the books.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/service_spec.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::agent {

class ToolRuns {
 public:
  using Answer = std::function<void(const Result<std::string>& printed)>;
  using OnLine = std::function<void(std::string_view line)>;

  explicit ToolRuns(EventLoop& loop) : loop_(loop) {}

  // Runs a command that is complete, in place of the one that runs for the same purpose ("move kafka"), and
  // calls `answer`, on the loop, with what it printed; its last words are the error.
  void run(const std::string& purpose, const Result<model::Command>& command, Duration longest, Answer answer,
           OnLine on_line = nullptr);

  // Has what runs for this purpose, if anything, end by SIGTERM; its answer comes as ever.
  void ask_to_end(const std::string& purpose);

 private:
  EventLoop& loop_;
  std::map<std::string, proc::CommandRun> runs_;  // by purpose
};

}  // namespace pilot::agent
