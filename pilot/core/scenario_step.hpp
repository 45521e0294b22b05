// One mini-app of a scenario while it runs: its progress as it tells it, and its report at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/config/scenario.hpp"
#include "pilot/core/tool_run.hpp"

namespace pilot::core {

enum class StepKind { source, processor };

// What a mini-app says with --progress json, as far as a scenario looks at it.
struct StepProgress {
  std::uint64_t done = 0;    // source: acknowledged; processor: stored or kept aside as a dead letter
  std::uint64_t wanted = 0;  // source; 0: no number
  double rate = 0;           // messages per second
  double lag = 0;            // source: seconds behind its schedule; processor: messages not yet received
};

// Of what it prints with --json.
struct StepReport {
  std::uint64_t acknowledged = 0;  // source
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::set<std::string> runs;  // source: the id in its messages
  std::uint64_t dead_letters = 0;
  // Processor: blocks in the output, by run and scan, whoever put them there.
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> blocks;
  std::vector<std::string> pictures;  // relative to the output
};

// One line with --progress json; nothing when it is another line.
std::optional<StepProgress> parse_step_progress(StepKind kind, std::string_view line);
// Errors: failed (it is not such a report).
Result<StepReport> parse_step_report(StepKind kind, const std::string& text);

class ScenarioStepRun {
 public:
  struct Place {
    std::filesystem::path miniapp;  // the program
    std::string pilot;              // whose clusters it uses
    std::filesystem::path output;   // for results, unless the step names a folder of its own
    std::filesystem::path folder;   // for its log and report
    std::string label;              // "source-1"
  };
  // Starts it.  Errors: as ToolRun::start().
  static Result<ScenarioStepRun> start(StepKind kind, const config::ScenarioStep& step, const Place& place);

  bool poll() { return run_->wait_for(Duration{0}); }  // true when it has ended
  void interrupt();                                    // asks it to finish and report
  bool wait_for_end(Duration time) { return run_->wait_for(time); }
  void kill();

  const StepProgress& progress() const { return *progress_; }
  bool ended() const { return run_->ended(); }
  // It did what it was asked to: it ended cleanly, or because it was interrupted.
  bool succeeded() const;
  Error failure() const;  // when it did not
  Result<StepReport> report() const;
  std::string table() const;  // what it said for people at its end

  StepKind kind() const { return kind_; }
  const std::string& label() const { return label_; }
  const std::string& group() const { return group_; }  // processors of one group share the messages
  const std::filesystem::path& output() const { return output_; }
  const std::filesystem::path& report_path() const { return report_path_; }

 private:
  ScenarioStepRun() = default;
  std::vector<std::string> words() const;  // the end of its log without the lines of progress
  StepKind kind_ = StepKind::source;
  std::string name_, label_, group_;
  std::filesystem::path output_, report_path_;
  std::unique_ptr<StepProgress> progress_;  // written by run_'s line handler
  std::optional<ToolRun> run_;
  bool interrupted_ = false;
};

}  // namespace pilot::core
