// Running a tool to its end and taking what it printed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pilot/base/clock.hpp"
#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/process_identity.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::proc {

struct CommandResult {
  model::ExitStatus status = {};
  bool timed_out = false;          // it was killed (its process group) when the time was over
  std::string out = {}, err = {};  // at most 1 MiB each, the rest is dropped
  bool succeeded() const { return !timed_out && status.clean(); }
  // "sbatch exited 1: invalid partition 'x'": the tool's last words, for an error message.
  std::string complaint(const std::string& tool) const;
};

// Waits for it.  Errors: not_found (no such program); a non-zero exit is not an error here.
Result<CommandResult> run_command(const model::Command& command, Duration timeout,
                                  const std::string& input = {});

// The same on a loop: calls `on_end` once, from the loop; destroying it before kills the process group.
// It ends when the process ends, even if something that it started keeps its output open.
class CommandRun {
 public:
  CommandRun(EventLoop& loop, const model::Command& command, Duration timeout,
             std::function<void(Result<CommandResult>)> on_end, const std::string& input = {});
  ~CommandRun();

  // Calls `on_line`, from the loop, for each whole line of standard output as it comes.
  void follow(std::function<void(std::string_view line)> on_line);

  // Sends SIGTERM to its process group; a tool that cleans up first has the time that is left to it.
  void ask_to_end();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::proc
