#include "pilot/agent/tool_runs.hpp"

#include <utility>

namespace pilot::agent {

namespace {

Result<std::string> verdict(const Result<proc::CommandResult>& result, const std::string& purpose) {
  PILOT_TRY(const auto ran, result);
  if (!ran.succeeded()) return make_error(ErrorCode::failed, ran.complaint(purpose));
  return ran.out;
}

}  // namespace

void ToolRuns::run(const std::string& purpose, const Result<model::Command>& command, Duration longest,
                   Answer answer, OnLine on_line) {
  runs_.erase(purpose);
  // Later, since the run itself goes before its answer is acted upon.
  const auto tell = [this, purpose, answer = std::move(answer)](const Result<std::string>& printed) {
    loop_.post([this, purpose, answer, printed] {
      runs_.erase(purpose);
      answer(printed);
    });
  };
  if (command.has_error()) return tell(command.error());
  auto& run = runs_
                  .try_emplace(purpose, loop_, command.value(), longest,
                               [tell, purpose](const Result<proc::CommandResult>& result) {
                                 tell(verdict(result, purpose));
                               })
                  .first->second;
  if (on_line) run.follow(std::move(on_line));
}

void ToolRuns::ask_to_end(const std::string& purpose) {
  const auto run = runs_.find(purpose);
  if (run != runs_.end()) run->second.ask_to_end();
}

}  // namespace pilot::agent
