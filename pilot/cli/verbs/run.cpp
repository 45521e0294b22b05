// pilot run
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/spec_flags.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/core/scenario_run.hpp"

namespace pilot::cli {
namespace {

struct RunFlags {
  SpecFlags spec;
  std::string file, output, timeout;
  bool keep = false;
};

nlohmann::ordered_json result_json(const std::string& name, const core::ScenarioResult& result) {
  std::vector<std::string> pictures;
  for (const auto& picture : result.pictures) pictures.push_back(picture.string());
  return {{"schema", "pilot.run/1"},
          {"name", name},
          {"complete", result.complete()},
          {"acknowledged", result.acknowledged},
          {"reconstructed", result.reconstructed},
          {"dead_letters", result.dead_letters},
          {"bytes", result.bytes},
          {"start_s", result.start_s},
          {"data_s", result.data_s},
          {"stop_s", result.stop_s},
          {"output", result.output.string()},
          {"report", result.report.string()},
          {"pictures", pictures}};
}

std::string result_text(const core::ScenarioResult& result) {
  const double megabytes = static_cast<double>(result.bytes) / 1e6;
  std::string text = result.table;
  text += fmt::format("\n{} messages acknowledged ({:.1f} MB), {} reconstructed, {} dead letters\n",
                      result.acknowledged, megabytes, result.reconstructed, result.dead_letters);
  text += fmt::format("ready after {:.1f} s, data in {:.1f} s, stopped in {:.1f} s\n", result.start_s,
                      result.data_s, result.stop_s);
  if (!result.pictures.empty()) text += fmt::format("picture: {}\n", result.pictures.front().string());
  if (!result.report.empty()) text += fmt::format("report:  {}\n", result.report.string());
  return text;
}

Result<core::ScenarioRequest> request_of(const RunFlags& flags) {
  core::ScenarioRequest request;
  PILOT_TRY(request.scenario, config::read_scenario(flags.file));
  PILOT_TRY(request.pilot, flags.spec.spec("", request.scenario.pilot));
  if (request.pilot.spec.name.empty())
    request.pilot.spec.name = std::filesystem::path(flags.file).stem().string();
  if (!flags.output.empty()) request.scenario.output = flags.output;
  if (!flags.timeout.empty()) {
    auto parsed = parse_duration(flags.timeout);
    if (!parsed.has_value()) return parsed.error().while_doing("--timeout");
    request.scenario.timeout = parsed.value();
  }
  request.keep = flags.keep;
  return request;
}

Result<int> run_run(Session& session, const RunFlags& flags) {
  PILOT_TRY(const core::ScenarioRequest request, request_of(flags));
  Progress progress = session.make_progress();
  auto run = core::run_scenario(session.context(progress), request);
  progress.finish();
  if (!run.has_value()) {
    if (signal_received() == 0) return run.error();
    print_error(run.error(), session.json);
    return 128 + signal_received();
  }
  const core::ScenarioResult& result = run.value();
  print(session.json ? result_json(request.pilot.spec.name, result).dump(2) + "\n" : result_text(result));
  if (flags.keep && !session.quiet)
    say(fmt::format("pilot '{0}' goes on; 'pilot stop {0}' ends it", request.pilot.spec.name));
  if (result.complete()) return 0;
  return make_error(ErrorCode::partial,
                    fmt::format("{} of {} acknowledged messages were reconstructed", result.reconstructed,
                                result.acknowledged),
                    fmt::format("logs of the steps: {}", (result.output / "run").string()));
}

}  // namespace

Command run_command(Session& session) {
  auto flags = std::make_shared<RunFlags>();
  Command command{"run", "Run a scenario: a pilot, sources and processors, a report"};
  command.description =
      "Starts the pilot, streams, processes, draws the results, makes a report and stops what it started, "
      "also on "
      "Ctrl-C. The exit code is 0 only when every message that was acknowledged was reconstructed, 6 when "
      "some are "
      "missing.";
  command.examples = {"pilot run examples/light-source.yaml",
                      "pilot run scenario.yaml --nodes 1 --output /tmp/out --keep"};
  command.arguments = {{"FILE", "the scenario (YAML)", &flags->file, true, {}, Completes::files}};
  command.options = flags->spec.options(false);
  command.options.push_back({"--output",
                             "DIR",
                             "results go here, whatever the scenario says",
                             &flags->output,
                             {},
                             Completes::folders});
  command.options.push_back({"--timeout", "TIME", "for the data to be processed", &flags->timeout});
  command.options.push_back({"--keep", "", "leave the pilot running", &flags->keep});
  std::stable_partition(command.options.begin(), command.options.end(),
                        [](const Option& option) { return option.group == "Options"; });
  command.run = [&session, flags] { return run_run(session, *flags); };
  return command;
}

}  // namespace pilot::cli
