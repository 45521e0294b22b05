#include "pilot/model/pilot_state.hpp"

#include <algorithm>

namespace pilot::model {
namespace {

void remember(std::vector<ProcessIdentity>& processes, const ProcessIdentity& process) {
  if (process && std::ranges::find(processes, process) == processes.end()) processes.push_back(process);
}

void forget(std::vector<ProcessIdentity>& processes, const ProcessIdentity& process) {
  std::erase(processes, process);
}

struct Fold {
  PilotState& state;
  WallTime at;

  void operator()(const PilotCreated& e) const {
    state.id = e.id;
    state.spec = e.spec;
    state.version = e.version;
    state.user = e.user;
    state.host = e.host;
    state.created = state.phase_since = at;
  }

  void operator()(const AllocationSubmitted& e) const {
    state.allocations[e.allocation] = AllocationState{e.job_id, e.nodes, AllocationPhase::pending, {}};
  }

  void operator()(const AllocationChanged& e) const {
    const auto found = state.allocations.find(e.allocation);
    if (found == state.allocations.end()) return;
    found->second.phase = e.phase;
    found->second.reason = e.reason;
  }

  void operator()(const HeadStarted& e) const {
    if (state.head) forget(state.processes, state.head->process);
    state.head = e;
    remember(state.processes, e.process);
  }

  void operator()(const NodeRegistered& e) const {
    NodeState& node = state.nodes[e.node.id];
    forget(state.processes, node.info.agent);
    node = NodeState{e.node, NodePhase::up, {}};
    remember(state.processes, e.node.agent);
    if (auto found = state.allocations.find(e.node.allocation); found != state.allocations.end())
      found->second.phase = AllocationPhase::running;
  }

  void operator()(const NodeChanged& e) const {
    const auto found = state.nodes.find(e.node);
    if (found == state.nodes.end()) return;
    found->second.phase = e.phase;
    found->second.reason = e.reason;
  }

  void operator()(const ClusterPlanned& e) const {
    ClusterState cluster;
    for (const ServiceSpec& service : e.plan.services) cluster.services[service.id].since = at;
    cluster.plan = e.plan;
    state.clusters[e.plan.framework] = std::move(cluster);
  }

  void operator()(const ClusterReady& e) const {
    if (auto found = state.clusters.find(e.framework); found != state.clusters.end())
      found->second.ready = true;
  }

  void operator()(const ServiceChanged& e) const {
    for (auto& [framework, cluster] : state.clusters) {
      const auto found = cluster.services.find(e.service);
      if (found == cluster.services.end()) continue;
      ServiceState& service = found->second;
      if (e.process != service.process) forget(state.processes, service.process);
      remember(state.processes, e.process);
      if (e.phase == ServicePhase::stopped) forget(state.processes, e.process);
      if (e.phase == ServicePhase::waiting) ++service.total_restarts;
      if (e.phase != service.phase) service.since = at;
      service.phase = e.phase;
      service.process = e.phase == ServicePhase::stopped ? ProcessIdentity{} : e.process;
      service.restarts = e.restarts;
      service.reason = e.reason;
      service.log_tail = e.log_tail;
    }
  }

  void operator()(const PilotPhaseChanged& e) const {
    state.phase = e.phase;
    state.reason = e.reason;
    state.phase_since = at;
  }

  void operator()(const Note&) const {}
};

}  // namespace

const ServiceSpec* PilotState::service_spec(std::string_view service_id) const {
  for (const auto& [framework, cluster] : clusters)
    for (const ServiceSpec& service : cluster.plan.services)
      if (service.id == service_id) return &service;
  return nullptr;
}

const ServiceState* PilotState::service_state(std::string_view service_id) const {
  for (const auto& [framework, cluster] : clusters)
    if (auto found = cluster.services.find(std::string(service_id)); found != cluster.services.end())
      return &found->second;
  return nullptr;
}

void apply(PilotState& state, const Event& event) {
  std::visit(Fold{state, event.at}, event.body);
  state.last_sequence = event.sequence;
}

PilotState fold(const std::vector<Event>& events) {
  PilotState state;
  for (const Event& event : events) apply(state, event);
  return state;
}

}  // namespace pilot::model
