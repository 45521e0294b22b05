#include "pilot/core/scenario_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "pilot/base/file.hpp"

namespace pilot::core {
namespace {

using nlohmann::json;

std::string flag_value(const config::ScenarioStep& step, const std::string& flag) {
  for (const auto& [key, value] : step.flags)
    if (key == flag) return value;
  return {};
}

StepProgress source_progress(const json& line) {
  return {line.value("acked", std::uint64_t{0}), line.value("wanted", std::uint64_t{0}),
          line.value("rate", 0.0), line.value("lag", 0.0)};
}

StepProgress processor_progress(const json& line) {
  return {line.value("stored", std::uint64_t{0}) + line.value("dead_letters", std::uint64_t{0}), 0,
          line.value("rate", 0.0), line.value("lag", 0.0)};
}

StepReport source_report(const json& document) {
  StepReport report;
  report.acknowledged = document.at("acked").get<std::uint64_t>();
  report.bytes = document.at("acked_bytes").get<std::uint64_t>();
  report.seconds = document.at("seconds").get<double>();
  report.runs.insert(document.at("run_id").get<std::string>());
  return report;
}

StepReport processor_report(const json& document) {
  StepReport report;
  report.bytes = document.at("bytes").get<std::uint64_t>();
  report.seconds = document.at("active_s").get<double>();
  report.dead_letters = document.at("dead_letters").get<std::uint64_t>();
  for (const json& scan : document.at("scans")) {
    const auto key =
        std::make_pair(scan.at("run_id").get<std::string>(), scan.at("scan_id").get<std::uint64_t>());
    report.blocks[key] = scan.at("blocks").get<std::uint64_t>();
    if (const auto picture = scan.at("picture").get<std::string>(); !picture.empty())
      report.pictures.push_back(picture);
  }
  return report;
}

}  // namespace

std::optional<StepProgress> parse_step_progress(StepKind kind, std::string_view line) {
  if (!line.starts_with("{")) return std::nullopt;
  const json document = json::parse(line, nullptr, false);
  if (!document.is_object()) return std::nullopt;
  try {
    if (document.value("event", "") != "progress") return std::nullopt;
    return kind == StepKind::source ? source_progress(document) : processor_progress(document);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

Result<StepReport> parse_step_report(StepKind kind, const std::string& text) {
  try {
    const json document = json::parse(text);
    return kind == StepKind::source ? source_report(document) : processor_report(document);
  } catch (const json::exception& error) {
    return make_error(ErrorCode::failed, fmt::format("this is no report: {}", error.what()));
  }
}

Result<ScenarioStepRun> ScenarioStepRun::start(StepKind kind, const config::ScenarioStep& step,
                                               const Place& place) {
  ScenarioStepRun run;
  run.kind_ = kind;
  run.name_ = step.name;
  run.label_ = place.label;
  run.group_ = flag_value(step, "group");
  run.report_path_ = place.folder / (place.label + ".json");
  run.progress_ = std::make_unique<StepProgress>();
  std::vector<std::string> words{place.miniapp.string(), kind == StepKind::source ? "source" : "process",
                                 step.name};
  for (std::string& word : step.arguments()) words.push_back(std::move(word));
  for (const char* flag : {"--pilot", "--progress", "--json"}) words.emplace_back(flag);
  words.insert(words.end() - 2, place.pilot);
  words.insert(words.end() - 1, "json");
  if (kind == StepKind::processor) {
    const std::string own = flag_value(step, "output");
    run.output_ = own.empty() ? place.output : std::filesystem::path(own);
    if (own.empty()) words.insert(words.end(), {"--output", place.output.string()});
  }
  // The report comes on standard output and progress on standard error, so the first goes to a file of its
  // own.  The shell replaces itself by the mini-app.
  ToolRun::Options options;
  options.command.argv = {"/bin/sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh",
                          run.report_path_.string()};
  options.command.argv.insert(options.command.argv.end(), words.begin(), words.end());
  options.command.directory = std::filesystem::current_path().string();
  options.output = place.folder / (place.label + ".log");
  StepProgress* progress = run.progress_.get();
  options.on_line = [kind, progress](std::string_view line) {
    if (const auto parsed = parse_step_progress(kind, line)) *progress = *parsed;
  };
  PILOT_TRY(ToolRun tool, ToolRun::start(std::move(options)));
  run.run_.emplace(std::move(tool));
  return run;
}

void ScenarioStepRun::interrupt() {
  interrupted_ = true;
  if (!run_->ended()) run_->signal(SIGINT);
}

void ScenarioStepRun::kill() {
  if (!run_->ended()) run_->end(std::chrono::seconds(5));
}

bool ScenarioStepRun::succeeded() const {
  const model::ExitStatus& status = run_->status();
  return status.clean() || (interrupted_ && (status.code == 128 + SIGINT || status.signal == SIGINT));
}

std::vector<std::string> ScenarioStepRun::words() const {
  std::vector<std::string> lines;
  std::istringstream text(tail_of_file(run_->output(), 60));
  for (std::string line; std::getline(text, line);)
    if (!line.starts_with("{")) lines.push_back(line);
  return lines;
}

Error ScenarioStepRun::failure() const {
  std::string why;  // its last words; a hint is none of its own
  for (const std::string& line : words())
    if (!line.empty() && !line.starts_with("hint:")) why = line;
  return make_error(
      ErrorCode::failed,
      fmt::format("{} ({}) failed: {}", label_, name_, why.empty() ? to_string(run_->status()) : why),
      fmt::format("all it said: {}", run_->output().string()));
}

std::string ScenarioStepRun::table() const {
  std::string text;
  for (const std::string& line : words())
    if (!line.starts_with("ended by")) text += line + "\n";
  return text.empty() ? text : fmt::format("{} ({})\n{}\n", label_, name_, text);
}

Result<StepReport> ScenarioStepRun::report() const {
  PILOT_TRY(const std::string text, read_file(report_path_));
  auto report = parse_step_report(kind_, text);
  if (!report.has_value()) return report.error().while_doing(report_path_.string());
  return report;
}

}  // namespace pilot::core
