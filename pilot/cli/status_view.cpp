#include "pilot/cli/status_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/session.hpp"

namespace pilot::cli {
namespace {

using nlohmann::ordered_json;

// When an extension begins to be given back by itself.
std::optional<WallTime> leaves_at(const std::string& id, const model::AllocationState& allocation,
                                  const Departures& departures) {
  const auto departure = departures.find(id);
  const auto ends = allocation.ends_at();
  return ends && departure != departures.end() ? std::optional(*ends - departure->second.lead) : std::nullopt;
}

ordered_json time_json(const std::optional<WallTime>& time) {
  return time ? ordered_json(iso8601(*time)) : ordered_json();
}

ordered_json allocations_json(const model::PilotState& state, const Departures& departures) {
  ordered_json list = ordered_json::array();
  for (const auto& [id, allocation] : state.allocations) {
    const auto departure = departures.find(id);
    list.push_back({{"id", id},
                    {"job", allocation.job_id},
                    {"nodes", allocation.nodes},
                    {"state", model::to_string(allocation.phase)},
                    {"reason", allocation.reason},
                    {"ends", time_json(allocation.ends_at())},
                    {"leaves", time_json(leaves_at(id, allocation, departures))},
                    {"held_bytes", departure == departures.end() ? 0 : departure->second.held.count}});
  }
  return list;
}

// "suspended" of a node that is silent because its job is, and of what runs there.
bool is_suspended(const model::PilotState& state, const model::NodeState& node) {
  const auto allocation = state.allocations.find(node.info.allocation);
  return node.phase != model::NodePhase::released && allocation != state.allocations.end() &&
         allocation->second.phase == model::AllocationPhase::suspended;
}

std::string_view word_of(const model::PilotState& state, const model::NodeState& node) {
  return is_suspended(state, node) ? to_string(model::AllocationPhase::suspended) : to_string(node.phase);
}

std::string_view word_of(const model::PilotState& state, const model::ServiceState& service,
                         const model::ServiceSpec* spec) {
  const auto node = spec == nullptr ? state.nodes.end() : state.nodes.find(spec->node);
  const bool idle = service.phase == model::ServicePhase::planned || model::is_final(service.phase);
  return !idle && node != state.nodes.end() && is_suspended(state, node->second)
             ? to_string(model::AllocationPhase::suspended)
             : to_string(service.phase);
}

std::string reason_of(const model::NodeState& node) {
  if (!node.reason.empty() || node.clock_ahead == Duration{0}) return node.reason;
  return model::clock_warning(node.clock_ahead);
}

ordered_json nodes_json(const model::PilotState& state) {
  ordered_json list = ordered_json::array();
  for (const auto& [id, node] : state.nodes)
    list.push_back({{"id", id},
                    {"allocation", node.info.allocation},
                    {"state", word_of(state, node)},
                    {"draining", node.draining},
                    {"reason", reason_of(node)},
                    {"host", node.info.host},
                    {"address", node.info.address},
                    {"rack", node.info.rack},
                    {"cores", node.info.cores},
                    {"memory", node.info.memory.count},
                    {"scratch", node.info.scratch},
                    {"agent_pid", node.info.agent.pid},
                    {"clock_ahead_s", std::chrono::duration<double>(node.clock_ahead).count()}});
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
                      {"state", word_of(state, service, spec)},
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

std::string time_to(const std::optional<WallTime>& time, const Clock& clock) {
  if (!time) return {};
  const Duration left = *time - clock.wall();
  return left > Duration{0} ? format_duration(std::chrono::floor<std::chrono::seconds>(left)) : "now";
}

// What has no end needs no columns for it.
std::string allocations_text(const model::PilotState& state, const Departures& departures, bool colour,
                             const Clock& clock) {
  const bool timed = std::ranges::any_of(state.allocations, [](const auto& entry) {
    return entry.second.ends_at() && entry.second.phase != model::AllocationPhase::ended;
  });
  std::vector<std::string> head{"ALLOCATION", "STATE", "NODES", "JOB"};
  if (timed) head.insert(head.end(), {"ENDS IN", "LEAVES IN"});
  head.emplace_back("REASON");
  Table table(head);
  for (const auto& [id, allocation] : state.allocations) {
    std::vector<std::string> row{id, std::string(model::to_string(allocation.phase)),
                                 std::to_string(allocation.nodes), allocation.job_id};
    const bool over = allocation.phase == model::AllocationPhase::ended;
    if (timed) {
      row.push_back(over ? "" : time_to(allocation.ends_at(), clock));
      row.push_back(over ? "" : time_to(leaves_at(id, allocation, departures), clock));
    }
    row.push_back(allocation.reason);
    table.add(std::move(row));
  }
  return table.empty() ? "" : "\n" + table.text(true, colour);
}

std::string nodes_text(const model::PilotState& state, bool colour) {
  Table table({"NODE", "STATE", "ADDRESS", "CORES", "MEMORY", "AGENT", "REASON"});
  for (const auto& [id, node] : state.nodes) {
    const bool drains = node.draining && node.phase == model::NodePhase::up;
    table.add({id, std::string(drains ? "draining" : word_of(state, node)), node.info.address,
               std::to_string(node.info.cores), format_bytes(node.info.memory), pid_text(node.info.agent.pid),
               reason_of(node)});
  }
  return table.empty() ? "" : "\n" + table.text(true, colour);
}

std::string services_text(const model::PilotState& state, bool colour, const Clock& clock) {
  Table table({"SERVICE", "STATE", "NODE", "ENDPOINT", "PID", "RESTARTS", "FOR", "REASON"});
  for (const auto& [framework, cluster] : state.clusters) {
    for (const auto& [id, service] : cluster.services) {
      const model::ServiceSpec* spec = spec_of(cluster, id);
      table.add({id, std::string(word_of(state, service, spec)), spec == nullptr ? "" : spec->node,
                 endpoint_of(state, spec), pid_text(service.process.pid),
                 std::to_string(service.total_restarts), age_of(service.since, clock), service.reason});
    }
  }
  return table.empty() ? "" : "\n" + table.text(true, colour);
}

std::string problems_text(const model::PilotState& state, bool colour) {
  std::string text;
  for (const auto& [framework, cluster] : state.clusters) {
    if (!cluster.problem.empty())
      text += fmt::format("\n{}: {}\n", framework, painted(cluster.problem, Colour::bad, colour));
    if (!cluster.change_failure.empty())
      text += fmt::format("\n{}: the last change failed: {}\n", framework, cluster.change_failure);
  }
  return text;
}

ordered_json clusters_json(const model::PilotState& state) {
  ordered_json list = ordered_json::array();
  for (const auto& [framework, cluster] : state.clusters)
    list.push_back({{"framework", framework},
                    {"version", cluster.plan.version},
                    {"ready", cluster.ready},
                    {"changing", cluster.changing},
                    {"moving", cluster.moving},
                    {"change_failure", cluster.change_failure},
                    {"problem", cluster.problem},
                    {"keeps_data", !cluster.plan.keeps.empty()}});
  return list;
}

}  // namespace

ordered_json status_json(const model::PilotState& state, bool live, const std::string& note,
                         const Departures& departures) {
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
  document["allocations"] = allocations_json(state, departures);
  document["nodes"] = nodes_json(state);
  document["services"] = services_json(state);
  document["clusters"] = clusters_json(state);
  document["exports"] = std::move(exports);
  return document;
}

std::string status_text(const model::PilotState& state, bool live, const std::string& note, bool colour,
                        const Clock& clock, const Departures& departures) {
  const std::string phase(model::to_string(state.phase));
  std::string text = fmt::format("{} is {} for {} ({}, {} node{}, age {})\n", state.spec.name,
                                 painted(phase, colour_of_state(phase), colour),
                                 age_of(state.phase_since, clock), state.spec.resource, state.spec.nodes,
                                 state.spec.nodes == 1 ? "" : "s", age_of(state.created, clock));
  if (!state.reason.empty()) text += fmt::format("reason: {}\n", state.reason);
  if (!live && !note.empty() && !model::is_final(state.phase))
    text += fmt::format("{}\n", painted("not live: " + note, Colour::bad, colour));
  text += allocations_text(state, departures, colour, clock) + nodes_text(state, colour);
  text += services_text(state, colour, clock) + problems_text(state, colour);
  std::string exports;
  for (const auto& [framework, cluster] : state.clusters)
    for (const auto& [name, value] : cluster.plan.exports) exports += fmt::format("{}={}\n", name, value);
  return exports.empty() ? text : text + "\n" + exports;
}

}  // namespace pilot::cli
