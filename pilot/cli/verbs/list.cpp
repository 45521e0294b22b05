// pilot list
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/core/status.hpp"

namespace pilot::cli {
namespace {

std::string frameworks_of(const model::PilotSpec& spec) {
  std::vector<std::string> names;
  for (const model::FrameworkSpec& framework : spec.frameworks) names.push_back(framework.name);
  return fmt::format("{}", fmt::join(names, ","));
}

Result<int> run_list(Session& session, bool no_header) {
  core::Observer nobody;
  const auto pilots = core::list_pilots(session.context(nobody));
  if (session.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const core::ListedPilot& pilot : pilots)
      list.push_back({{"name", pilot.name},
                      {"state", pilot.problem.empty() ? model::to_string(pilot.state.phase) : "unknown"},
                      {"head_alive", pilot.head_alive},
                      {"resource", pilot.state.spec.resource},
                      {"nodes", pilot.state.spec.nodes},
                      {"frameworks", frameworks_of(pilot.state.spec)},
                      {"created", iso8601(pilot.state.created)},
                      {"host", pilot.state.host},
                      {"note", pilot.problem}});
    print(nlohmann::ordered_json{{"schema", "pilot.list/1"}, {"pilots", std::move(list)}}.dump(2) + "\n");
    return 0;
  }
  Table table({"NAME", "STATE", "RESOURCE", "NODES", "FRAMEWORKS", "AGE", "NOTE"});
  for (const core::ListedPilot& pilot : pilots) {
    const bool known = pilot.state.spec.name.size() > 0;
    table.add({pilot.name, known ? std::string(model::to_string(pilot.state.phase)) : "unknown",
               pilot.state.spec.resource, std::to_string(pilot.state.spec.nodes),
               frameworks_of(pilot.state.spec), age_of(pilot.state.created, *session.clock), pilot.problem});
  }
  if (pilots.empty() && !session.quiet) say("there is no pilot; 'pilot start NAME' starts one");
  if (!pilots.empty()) print(table.text(!no_header, session.colour_on_stdout()));
  return 0;
}

}  // namespace

Command list_command(Session& session) {
  auto no_header = std::make_shared<bool>(false);
  Command command{"list", "List your pilots"};
  command.description = "From their folders; agents are not asked. 'pilot status NAME' asks.";
  command.examples = {"pilot list", "pilot list --no-header | awk '{print $1}'"};
  command.options = {{"-n,--no-header", "", "only the rows", no_header.get()}};
  command.run = [&session, no_header] { return run_list(session, *no_header); };
  return command;
}

}  // namespace pilot::cli
