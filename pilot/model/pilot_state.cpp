#include "pilot/model/pilot_state.hpp"

#include <algorithm>
#include <utility>

#include "pilot/base/contains.hpp"

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
    AllocationState& allocation = state.allocations[e.allocation];
    allocation.job_id = e.job_id;
    allocation.nodes = e.nodes;
    if (e.allocation == "a0") allocation.walltime = state.spec.walltime;
  }

  void operator()(const ExtensionRequested& e) const {
    AllocationState& allocation = state.allocations[e.allocation];
    allocation.nodes = e.nodes;
    allocation.first_node = e.first_node;
    allocation.walltime = e.walltime;
    allocation.move = e.move;
    allocation.joins = e.joins;
    allocation.throttle = e.throttle;
  }

  void operator()(const AllocationChanged& e) const {
    const auto found = state.allocations.find(e.allocation);
    if (found == state.allocations.end()) return;
    found->second.phase = e.phase;
    found->second.reason = e.reason;
    if (!e.ends_at) return;
    if (const auto before = std::exchange(found->second.told_end, e.ends_at))
      found->second.prolonged += *e.ends_at - *before;
  }

  void operator()(const HeadStarted& e) const {
    if (state.head) forget(state.processes, state.head->process);
    state.head = e;
    remember(state.processes, e.process);
  }

  void operator()(const NodeRegistered& e) const {
    const bool is_new = !state.nodes.contains(e.node.id);
    NodeState& node = state.nodes[e.node.id];
    forget(state.processes, node.info.agent);
    node = NodeState{e.node,
                     NodePhase::up,
                     {},
                     node.draining,
                     false,
                     {},
                     node.throttle,
                     e.clock_ahead.value_or(Duration{0})};
    remember(state.processes, e.node.agent);
    for (auto& [framework, cluster] : state.clusters)
      if (is_new) cluster.newcomers.push_back(e.node.id);
    const auto found = state.allocations.find(e.node.allocation);
    if (found == state.allocations.end()) return;
    if (found->second.phase == AllocationPhase::suspended) found->second.reason.clear();
    if (found->second.phase != AllocationPhase::ended) found->second.phase = AllocationPhase::running;
    if (!found->second.started) found->second.started = at;
  }

  void operator()(const NodeChanged& e) const {
    const auto found = state.nodes.find(e.node);
    if (found == state.nodes.end()) return;
    found->second.phase = e.phase;
    found->second.reason = e.reason;
    if (e.phase == NodePhase::lost) lose_services(e.node);
  }

  // Whatever ran there; what the node says when it comes back is true again.
  void lose_services(const std::string& node) const {
    for (auto& [framework, cluster] : state.clusters) {
      for (const ServiceSpec& spec : cluster.plan.services) {
        ServiceState& service = cluster.services.at(spec.id);
        if (spec.node != node || service.phase == ServicePhase::planned || is_final(service.phase)) continue;
        service.phase = ServicePhase::lost;
        service.reason = node + " is lost";
        service.since = at;
      }
    }
  }

  void operator()(const NodeCordoned& e) const {
    const auto found = state.nodes.find(e.node);
    if (found == state.nodes.end()) return;
    found->second.draining = e.draining;
    found->second.throttle = e.throttle;
    found->second.reason = e.reason;
  }

  void operator()(const NodesReturned& e) const {
    for (const auto& id : e.nodes) {
      const auto found = state.nodes.find(id);
      if (found == state.nodes.end()) continue;
      found->second.returned = e.failure.empty();
      found->second.return_failure = e.failure;
    }
  }

  // Services that were there before keep their states; those that are not planned any more go.
  void operator()(const ClusterPlanned& e) const {
    ClusterState& cluster = state.clusters[e.plan.framework];
    std::map<std::string, ServiceState> services;
    const auto arriving = std::exchange(cluster.arriving, {});  // of a change that is planned anew
    for (const ServiceSpec& service : e.plan.services) {
      const auto before = cluster.services.find(service.id);
      const bool is_new = before == cluster.services.end();
      services[service.id] = is_new ? ServiceState{} : before->second;
      if (cluster.changing && contains(arriving, service.id)) cluster.arriving.push_back(service.id);
      if (!is_new) continue;
      services[service.id].since = at;
      if (cluster.ready && !service.late) cluster.arriving.push_back(service.id);
    }
    cluster.services = std::move(services);
    cluster.plan = e.plan;
    cluster.changing = cluster.ready;
    cluster.moving = false;
    std::erase_if(cluster.newcomers, [&](const auto& node) { return contains(e.plan.nodes, node); });
    if (e.plan.resize) cluster.change_failure.clear();
  }

  void operator()(const ClusterReady& e) const {
    const auto found = state.clusters.find(e.framework);
    if (found == state.clusters.end()) return;
    ClusterState& cluster = found->second;
    cluster.moving = cluster.changing && cluster.plan.resize && cluster.plan.resize->move;
    cluster.ready = true;
    cluster.changing = false;
    cluster.arriving.clear();
  }

  void operator()(const DataMoved& e) const {
    const auto found = state.clusters.find(e.framework);
    if (found == state.clusters.end()) return;
    ClusterState& cluster = found->second;
    if (!cluster.changing && !cluster.moving)
      cluster.newcomers.clear();  // what could not be planned was for all
    cluster.changing = cluster.moving = false;
    cluster.change_failure = e.failure;
  }

  void operator()(const ClusterChecked& e) const {
    const auto found = state.clusters.find(e.framework);
    if (found != state.clusters.end()) found->second.problem = e.problem;
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

std::vector<std::string> PilotState::nodes_of(std::string_view allocation) const {
  std::vector<std::pair<int, const std::string*>> by_rank;
  for (const auto& [node_id, node] : nodes)
    if (node.info.allocation == allocation) by_rank.emplace_back(node.info.rank, &node_id);
  std::ranges::sort(by_rank, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::string> ids;
  for (const auto& [rank, node_id] : by_rank) ids.push_back(*node_id);
  return ids;
}

bool PilotState::was_resized(const std::string& job_id) const {
  const auto is_returned = [&](const auto& node) { return nodes.at(node).returned; };
  return std::ranges::any_of(allocations, [&](const auto& entry) {
    const auto& [name, allocation] = entry;
    if (allocation.job_id != job_id) return false;
    return allocation.joins || std::ranges::any_of(nodes_of(name), is_returned);
  });
}

bool ClusterState::failed_with(const std::vector<std::string>& nodes) const {
  return !change_failure.empty() &&
         std::ranges::none_of(nodes, [&](const auto& node) { return contains(newcomers, node); });
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
