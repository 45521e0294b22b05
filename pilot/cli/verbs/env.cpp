// pilot env
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {
namespace {

struct EnvFlags {
  std::string name, format = "sh";
};

using Exports = std::map<std::string, std::string>;

Result<Exports> exports_of(const core::RunningPilot& pilot) {
  Exports exports;
  for (const auto& [framework, cluster] : pilot.state().clusters)
    exports.insert(cluster.plan.exports.begin(), cluster.plan.exports.end());
  const std::string& name = pilot.state().spec.name;
  const model::PilotPhase phase = pilot.state().phase;
  if (model::is_final(phase))
    return make_error(ErrorCode::unavailable, fmt::format("pilot '{}' is {}", name, model::to_string(phase)));
  if (exports.empty() && !pilot.state().spec.frameworks.empty())
    return make_error(
        ErrorCode::unavailable,
        fmt::format("pilot '{}' is {}: its clusters have no addresses yet", name, model::to_string(phase)),
        fmt::format("'pilot wait {} --for ready' waits for them", name));
  return exports;
}

std::string line_of(const std::string& format, const std::string& name, const std::string& value) {
  if (format == "fish") return fmt::format("set -gx {} {};\n", name, shell_quoted(value));
  if (format == "csh") return fmt::format("setenv {} {};\n", name, shell_quoted(value));
  return fmt::format("export {}={}\n", name, shell_quoted(value));
}

Result<int> run_env(Session& session, const EnvFlags& flags) {
  PILOT_TRY(const std::string name, pilot_name(flags.name));
  core::Observer nobody;
  PILOT_TRY(const core::RunningPilot pilot, core::RunningPilot::open(session.context(nobody), name));
  PILOT_TRY(const Exports exports, exports_of(pilot));
  const model::PilotPhase phase = pilot.state().phase;
  if (phase != model::PilotPhase::ready && !session.quiet)
    say(fmt::format("note: pilot '{}' is {}", name, model::to_string(phase)));
  if (session.json) {
    nlohmann::ordered_json document{
        {"schema", "pilot.env/1"}, {"name", name}, {"state", model::to_string(phase)}};
    document["exports"] = exports;
    print(document.dump(2) + "\n");
    return 0;
  }
  for (const auto& [variable, value] : exports) print(line_of(flags.format, variable, value));
  return 0;
}

}  // namespace

Command env_command(Session& session) {
  auto flags = std::make_shared<EnvFlags>();
  Command command{"env", "Print the variables by which clients find a pilot's clusters"};
  command.description = "Addresses and paths of files, never secrets.";
  command.examples = {"eval \"$(pilot env demo)\"",
                      "pilot env demo --json | jq -r .exports.KAFKA_BOOTSTRAP_SERVERS",
                      "pilot env demo --format fish | source"};
  command.arguments = {pilot_argument(flags->name, false)};
  command.options = {{"--format", "SHELL", "for which shell [sh]", &flags->format, {"sh", "fish", "csh"}}};
  command.run = [&session, flags] { return run_env(session, *flags); };
  return command;
}

}  // namespace pilot::cli
