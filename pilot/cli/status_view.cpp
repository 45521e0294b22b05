#include "pilot/cli/status_view.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/session.hpp"

namespace pilot::cli {
namespace {

using nlohmann::ordered_json;

ordered_json allocations_json(const model::PilotState& state) {
  ordered_json list = ordered_json::array();
  for (const auto& [id, allocation] : state.allocations)
    list.push_back({{"id", id},
                    {"job", allocation.job_id},
                    {"nodes", allocation.nodes},
                    {"state", model::to_string(allocation.phase)},
                    {"reason", allocation.reason}});
  return list;
}

ordered_json nodes_json(const model::PilotState& state) {
  ordered_json list = ordered_json::array();
  for (const auto& [id, node] : state.nodes)
    list.push_back({{"id", id},
                    {"allocation", node.info.allocation},
                    {"state", model::to_string(node.phase)},
                    {"draining", node.draining},
                    {"reason", node.reason},
                    {"host", node.info.host},
                    {"address", node.info.address},
                    {"rack", node.info.rack},
                    {"cores", node.info.cores},
                    {"memory", node.info.memory.count},
                    {"scratch", node.info.scratch},
                    {"agent_pid", node.info.agent.pid}});
  return list;
}

const model::ServiceSpec* spec_of(const model::ClusterState& cluster, const std::string& id) {
  for (const model::ServiceSpec& service : cluster.plan.services)
    if (service.id == id) return &service;
  return nullptr;
}

ordered_json services_json(const model::PilotState& state) {
  ordered_json list = ordered_json::array();
  for (const auto& [framework, cluster] : state.clusters) {
    for (const auto& [id, service] : cluster.services) {
      const model::ServiceSpec* spec = spec_of(cluster, id);
      list.push_back({{"id", id},
                      {"framework", framework},
                      {"role", spec == nullptr ? "" : spec->role},
                      {"node", spec == nullptr ? "" : spec->node},
                      {"state", model::to_string(service.phase)},
                      {"reason", service.reason},
                      {"pid", service.process.pid},
                      {"restarts", service.total_restarts},
                      {"ports", spec == nullptr ? std::map<std::string, std::uint16_t>{} : spec->ports},
                      {"log", spec == nullptr ? "" : spec->log},
                      {"since", iso8601(service.since)}});
    }
  }
  return list;
}

std::string endpoint_of(const model::PilotState& state, const model::ServiceSpec* spec) {
  if (spec == nullptr || spec->ports.empty()) return {};
  const auto node = state.nodes.find(spec->node);
  const std::string address = node == state.nodes.end() ? spec->node : node->second.info.address;
  const auto client = spec->ports.find("client");
  return fmt::format("{}:{}", address,
                     client != spec->ports.end() ? client->second : spec->ports.begin()->second);
}

std::string pid_text(pid_t pid) {
  return pid > 0 ? std::to_string(pid) : "-";
}

}  // namespace

ordered_json status_json(const model::PilotState& state, bool live, const std::string& note) {
  ordered_json exports = ordered_json::object();
  for (const auto& [framework, cluster] : state.clusters)
    for (const auto& [name, value] : cluster.plan.exports) exports[name] = value;
  ordered_json document{{"schema", "pilot.status/1"},
                        {"name", state.spec.name},
                        {"id", state.id},
                        {"state", model::to_string(state.phase)},
                        {"reason", state.reason},
                        {"live", live},
                        {"note", note},
                        {"resource", state.spec.resource},
                        {"wanted_nodes", state.spec.nodes},
                        {"created", iso8601(state.created)},
                        {"since", iso8601(state.phase_since)},
                        {"version", state.version},
                        {"user", state.user},
                        {"host", state.host}};
  document["head"] = nullptr;
  if (state.head)
    document["head"] = {{"pid", state.head->process.pid},
                        {"host", state.head->host},
                        {"node", state.head->node.value_or("")},
                        {"endpoint", state.head->endpoint},
                        {"starts", state.head->start}};
  document["allocations"] = allocations_json(state);
  document["nodes"] = nodes_json(state);
  document["services"] = services_json(state);
  document["clusters"] = ordered_json::array();
  for (const auto& [framework, cluster] : state.clusters)
    document["clusters"].push_back({{"framework", framework},
                                    {"version", cluster.plan.version},
                                    {"ready", cluster.ready},
                                    {"changing", cluster.changing},
                                    {"moving", cluster.moving},
                                    {"change_failure", cluster.change_failure},
                                    {"problem", cluster.problem},
                                    {"keeps_data", !cluster.plan.keeps.empty()}});
  document["exports"] = std::move(exports);
  return document;
}

std::string status_text(const model::PilotState& state, bool live, const std::string& note, bool colour,
                        const Clock& clock) {
  const std::string phase(model::to_string(state.phase));
  std::string text = fmt::format("{} is {} for {} ({}, {} node{}, age {})\n", state.spec.name,
                                 painted(phase, colour_of_state(phase), colour),
                                 age_of(state.phase_since, clock), state.spec.resource, state.spec.nodes,
                                 state.spec.nodes == 1 ? "" : "s", age_of(state.created, clock));
  if (!state.reason.empty()) text += fmt::format("reason: {}\n", state.reason);
  if (!live && !note.empty() && !model::is_final(state.phase))
    text += fmt::format("{}\n", painted("not live: " + note, Colour::bad, colour));

  Table allocations({"ALLOCATION", "STATE", "NODES", "JOB", "REASON"});
  for (const auto& [id, allocation] : state.allocations)
    allocations.add({id, std::string(model::to_string(allocation.phase)), std::to_string(allocation.nodes),
                     allocation.job_id, allocation.reason});
  if (!allocations.empty()) text += "\n" + allocations.text(true, colour);

  Table nodes({"NODE", "STATE", "ADDRESS", "CORES", "MEMORY", "AGENT", "REASON"});
  for (const auto& [id, node] : state.nodes)
    nodes.add(
        {id,
         std::string(node.draining && node.phase == model::NodePhase::up ? "draining"
                                                                         : model::to_string(node.phase)),
         node.info.address, std::to_string(node.info.cores), format_bytes(node.info.memory),
         pid_text(node.info.agent.pid), node.reason});
  if (!nodes.empty()) text += "\n" + nodes.text(true, colour);

  Table services({"SERVICE", "STATE", "NODE", "ENDPOINT", "PID", "RESTARTS", "FOR", "REASON"});
  for (const auto& [framework, cluster] : state.clusters) {
    for (const auto& [id, service] : cluster.services) {
      const model::ServiceSpec* spec = spec_of(cluster, id);
      services.add({id, std::string(model::to_string(service.phase)), spec == nullptr ? "" : spec->node,
                    endpoint_of(state, spec), pid_text(service.process.pid),
                    std::to_string(service.total_restarts), age_of(service.since, clock), service.reason});
    }
  }
  if (!services.empty()) text += "\n" + services.text(true, colour);

  for (const auto& [framework, cluster] : state.clusters) {
    if (!cluster.problem.empty())
      text += fmt::format("\n{}: {}\n", framework, painted(cluster.problem, Colour::bad, colour));
    if (!cluster.change_failure.empty())
      text += fmt::format("\n{}: the last change failed: {}\n", framework, cluster.change_failure);
  }
  std::string exports;
  for (const auto& [framework, cluster] : state.clusters)
    for (const auto& [name, value] : cluster.plan.exports) exports += fmt::format("{}={}\n", name, value);
  return exports.empty() ? text : text + "\n" + exports;
}

}  // namespace pilot::cli
