// A program that runs beside us while what it prints is looked at line by line: a recipe, a mini-app.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/process_identity.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::core {

class ToolRun {
 public:
  struct Options {
    model::Command command;
    std::filesystem::path output;  // stdout and stderr are written to this file
    std::function<void(std::string_view line)> on_line = {};
  };

  // Errors: not_found (no such program), failed.
  static Result<ToolRun> start(Options options);
  ToolRun(ToolRun&&) noexcept;
  ToolRun& operator=(ToolRun&&) noexcept;
  ~ToolRun();  // ends it

  // Passes on lines for so long, or until it has ended; true when it has ended (all lines are passed on).
  bool wait_for(Duration time);

  // Asks it to end (SIGINT, then SIGKILL to its group after `grace`) and waits for that.
  void end(Duration grace);
  void signal(int number);

  bool ended() const;
  const model::ExitStatus& status() const;  // once ended
  const std::string& last_line() const;     // the last one that is not empty
  const std::filesystem::path& output() const;
  const model::ProcessIdentity& process() const;

 private:
  struct Impl;
  explicit ToolRun(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::core
