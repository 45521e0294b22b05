#include "pilot/core/reopen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pilot/base/contains.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/base/units.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::core {
namespace {

namespace fs = std::filesystem;

bool keeps_data(const model::PilotState& state) {
  return std::ranges::any_of(state.clusters,
                             [](const auto& entry) { return !entry.second.plan.keeps.empty(); });
}

// Of that name, the newest first.
std::vector<model::PilotState> stopped_of(const std::string& name, std::vector<std::string>& names) {
  std::vector<model::PilotState> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(store::pilot_home() / "stopped", error)) {
    auto state = store::load_state(entry.path());
    if (state.has_error()) continue;  // one that is damaged is not what is looked for
    names.push_back(state.value().spec.name);
    if (state.value().spec.name == name || entry.path().filename() == name)
      all.push_back(std::move(state).value());
  }
  std::ranges::sort(all, std::ranges::greater(), &model::PilotState::created);
  return all;
}

// Nodes on which services run that hold data: all of a cluster that keeps them.
int nodes_with_data(const model::PilotState& state) {
  std::size_t most = 1;
  for (const auto& [framework, cluster] : state.clusters) {
    std::vector<std::string> nodes;
    for (const auto& service : cluster.plan.services)
      if (std::ranges::find(nodes, service.node) == nodes.end()) nodes.push_back(service.node);
    if (!cluster.plan.keeps.empty()) most = std::max(most, nodes.size());
  }
  return static_cast<int>(most);
}

}  // namespace

Result<model::PilotState> stopped_pilot(const std::string& name) {
  std::vector<std::string> names;
  const auto all = stopped_of(name, names);
  if (all.empty()) {
    const auto running = store::PilotFolder::names();
    if (contains(running, name))
      return make_error(ErrorCode::usage, fmt::format("pilot '{}' was not stopped", name),
                        fmt::format("'pilot stop {}' ends it, or cleans up after it", name));
    return make_error(ErrorCode::not_found, fmt::format("there is no stopped pilot '{}'", name),
                      suggestion(name, names));
  }
  for (const auto& state : all)
    if (keeps_data(state)) return state;
  return make_error(ErrorCode::usage,
                    fmt::format("the data of pilot '{}' lay in its nodes' scratch and ended with it", name),
                    "the option 'data' of a framework keeps them ('pilot frameworks list --json')");
}

std::string settings_of(const model::PilotState& stopped) {
  using Json = nlohmann::ordered_json;  // YAML reads it
  const auto& spec = stopped.spec;
  Json settings{{"resource", spec.resource}, {"nodes", std::max(spec.nodes, nodes_with_data(stopped))}};
  if (spec.walltime) settings["walltime"] = format_duration(*spec.walltime);
  if (spec.cores_per_node > 0) settings["node"]["cores"] = spec.cores_per_node;
  if (spec.memory_per_node.count > 0) settings["node"]["memory"] = std::to_string(spec.memory_per_node.count);
  if (!spec.scratch.empty()) settings["node"]["scratch"] = spec.scratch;
  settings["network"] = {{"subnet", spec.network.subnet},
                         {"ports", fmt::format("{}-{}", spec.network.first_port, spec.network.last_port)}};
  settings["security"]["encrypt"] = spec.encrypt;
  settings["ready_timeout"] = format_duration(spec.ready_timeout);
  settings["lost_after"] = format_duration(spec.lost_after);
  for (const auto& [key, value] : spec.batch) settings["batch"][key] = value;
  settings["frameworks"] = Json::object();
  for (const auto& framework : spec.frameworks) {
    Json& one = settings["frameworks"][framework.name] = Json::object();
    for (const auto& [key, value] : framework.options) one[key] = value;
    for (const auto& [key, value] : framework.config) one["config"][key] = value;
  }
  return settings.dump();
}

Result<void> reopen_in(model::PilotSpec& spec, const model::PilotState& stopped) {
  for (const auto& [name, cluster] : stopped.clusters) {
    if (cluster.plan.keeps.empty()) continue;
    const auto framework = std::ranges::find(spec.frameworks, name, &model::FrameworkSpec::name);
    if (framework == spec.frameworks.end())
      return make_error(ErrorCode::usage,
                        fmt::format("pilot '{}' kept data of {}, which is not among the frameworks",
                                    stopped.spec.name, name));
    framework->reopen = cluster.plan.keeps;
  }
  return ok();
}

}  // namespace pilot::core
