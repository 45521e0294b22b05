// What follows from the state: the way from the first agent to a pilot that is ready, and its health.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pilot/agent/head_core.hpp"
#include "pilot/base/contains.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

using model::NodePhase;
using model::PilotPhase;
using model::ServicePhase;

namespace {

// A change waits for what comes with it only: what stays and is down may be so for good, and who moves data
// sees to it.  Those of nodes that are given back may be gone already, with their node.
bool all_ready(const model::ClusterState& cluster) {
  return std::ranges::all_of(cluster.plan.services, [&](const model::ServiceSpec& spec) {
    const bool leaves = cluster.plan.resize && contains(cluster.plan.resize->draining, spec.node);
    const bool awaited = cluster.ready ? contains(cluster.arriving, spec.id) : !spec.late;
    return leaves || !awaited || cluster.services.at(spec.id).phase == ServicePhase::ready;
  });
}

// The lowest stage that is not ready yet.
int current_stage(const model::ClusterState& cluster) {
  int stage = std::numeric_limits<int>::max();
  for (const auto& spec : cluster.plan.services)
    if (!spec.late && cluster.services.at(spec.id).phase != ServicePhase::ready)
      stage = std::min(stage, spec.stage);
  return stage;
}

// A late one on its first way up: nobody waits for it.
bool joins(const model::ServiceSpec& spec, const model::ServiceState& service) {
  return spec.late && service.total_restarts == 0 &&
         (service.phase == ServicePhase::planned || service.phase == ServicePhase::preparing ||
          service.phase == ServicePhase::starting);
}

std::string says(const std::string& id, const model::ServiceState& service) {
  std::string text = fmt::format("{} {}", id, to_string(service.phase));
  if (!service.reason.empty()) text += ": " + service.reason;
  return text;
}

}  // namespace

void HeadCore::advance() {
  PilotPhase before;
  do {
    before = state_.phase;
    switch (state_.phase) {
      case PilotPhase::submitted:
        emit(model::PilotPhaseChanged{PilotPhase::starting, {}});
        break;
      case PilotPhase::starting:
        await_nodes();
        break;
      case PilotPhase::booting:
        boot();
        break;
      case PilotPhase::ready:
      case PilotPhase::degraded:
        start_wanted();
        follow_nodes();
        watch_health();
        break;
      case PilotPhase::stopping:
      case PilotPhase::failed:
      case PilotPhase::stopped:
        wind_down();
        break;
    }
  } while (state_.phase != before);
}

void HeadCore::await_nodes() {
  if (base_is_up()) return emit(model::PilotPhaseChanged{PilotPhase::booting, {}});
  if (ready_deadline_passed())
    fail(fmt::format("not all nodes came within {}: {} missing", format_duration(state_.spec.ready_timeout),
                     fmt::join(missing_nodes(), ", ")));
}

bool HeadCore::base_is_up() const {
  return std::ranges::count_if(state_.nodes, [](const auto& entry) {
           const auto& [id, node] = entry;
           return node.phase == NodePhase::up && node.info.allocation == base_allocation;
         }) >= state_.spec.nodes;
}

// Base nodes are named node-1 ... node-N from the start.
std::vector<std::string> HeadCore::missing_nodes() const {
  std::vector<std::string> missing;
  for (int number = 1; number <= state_.spec.nodes; ++number) {
    const std::string id = fmt::format("node-{}", number);
    const auto node = state_.nodes.find(id);
    if (node == state_.nodes.end() || node->second.phase != NodePhase::up) missing.push_back(id);
  }
  return missing;
}

void HeadCore::boot() {
  plan_next();
  for (const auto& entry : state_.clusters) {
    for (const auto& spec : entry.second.plan.services)
      if (const auto& service = entry.second.services.at(spec.id);
          service.phase == ServicePhase::failed && !spec.late)
        return fail(says(spec.id, service));
  }
  start_wanted();
  for (const auto& entry : state_.clusters) bring_up(entry);
  const bool ready = std::ranges::all_of(state_.spec.frameworks, [&](const auto& framework) {
    const auto cluster = state_.clusters.find(framework.name);
    return cluster != state_.clusters.end() && cluster->second.ready;
  });
  if (ready) return emit(model::PilotPhaseChanged{PilotPhase::ready, {}});
  if (ready_deadline_passed())
    fail(fmt::format("not ready after {}: {}", format_duration(state_.spec.ready_timeout), problem()));
}

// One after the other, since a plan must not use the ports of the one before.
void HeadCore::plan_next() {
  if (!planning_.empty()) return;
  for (const auto& framework : state_.spec.frameworks) {
    if (state_.clusters.contains(framework.name)) continue;
    planning_.insert(framework.name);
    out_.effects.push_back(PlanCluster{framework, nodes_to_plan_for(), {}, {}, true});
    return;
  }
}

// Without the ports that services have already.
std::vector<model::NodeInfo> HeadCore::nodes_to_plan_for() const {
  std::vector<model::NodeInfo> nodes;
  for (const auto& id : usable_nodes()) nodes.push_back(state_.nodes.at(id).info);
  for (auto& node : nodes)
    for (const auto& [name, cluster] : state_.clusters)
      for (const auto& service : cluster.plan.services)
        for (const auto& [use, port] : service.ports)
          if (service.node == node.id) std::erase(node.free_ports, port);
  return nodes;
}

void HeadCore::bring_up(const ClusterEntry& entry) {
  const auto& [framework, cluster] = entry;
  if ((cluster.ready && !cluster.changing) || !all_ready(cluster) || writing_.contains(framework)) return;
  if (planning_.contains(framework)) return;  // anew: nobody would hear the answer
  if (cluster.ready && cluster.arriving.empty()) return write_client_files(framework);  // nothing to ask
  if (probing_.insert(framework).second) out_.effects.push_back(ProbeCluster{framework, cluster.plan.ready});
}

void HeadCore::write_client_files(const std::string& framework) {
  if (writing_.insert(framework).second)
    out_.effects.push_back(WriteClientFiles{framework, state_.clusters.at(framework).plan.client_files});
}

// A service runs when the stages before its own are ready, an early one when the one before begins, a late
// one when all are; once it was started it stays wanted.  `stage`: the cluster's current one.
bool HeadCore::is_wanted(const model::ClusterState& cluster, const model::ServiceSpec& service,
                         int stage) const {
  const auto phase = cluster.services.at(service.id).phase;
  if (winding_down()) return is_active(service);  // it is stopped in its turn, by name
  if (is_leaving(service.node)) return false;
  if (phase != ServicePhase::planned) return true;
  // Beside another framework's start it would only take its time.
  if (service.late) return cluster.ready && state_.phase != PilotPhase::booting;
  return service.stage - (service.early ? 1 : 0) <= stage;
}

std::vector<std::string> HeadCore::wanted_on(const std::string& node) const {
  std::vector<std::string> wanted;
  for (const auto& [framework, cluster] : state_.clusters) {
    const int stage = current_stage(cluster);
    for (const auto& service : cluster.plan.services)
      if (service.node == node && is_wanted(cluster, service, stage)) wanted.push_back(service.id);
  }
  return wanted;
}

void HeadCore::start_wanted() {
  std::map<std::string, model::StartServices> by_node;
  for (const auto& [framework, cluster] : state_.clusters) {
    const int stage = current_stage(cluster);
    for (const auto& service : cluster.plan.services) {
      const auto session = sessions_.find(service.node);
      if (session == sessions_.end() || session->second.asked_to_run.contains(service.id)) continue;
      if (cluster.services.at(service.id).phase == ServicePhase::failed) continue;
      if (!is_wanted(cluster, service, stage)) continue;
      session->second.asked_to_run.insert(service.id);
      by_node[service.node].services.push_back(service);
    }
  }
  for (auto& [node, start] : by_node) send(sessions_.at(node).peer, std::move(start));
}

void HeadCore::watch_health() {
  const std::string found = problem();
  if (state_.phase == PilotPhase::ready && !found.empty())
    emit(model::PilotPhaseChanged{PilotPhase::degraded, found});
  else if (state_.phase == PilotPhase::degraded && found.empty())
    emit(model::PilotPhaseChanged{PilotPhase::ready, {}});
}

// Now and then, and soon again before something is said for the first time: a new topic's followers need a
// moment.
void HeadCore::check_data() {
  if (state_.phase != PilotPhase::ready && state_.phase != PilotPhase::degraded) return;
  const SteadyTime now = clock_->steady();
  for (const auto& [framework, cluster] : state_.clusters) {
    if (!cluster.ready || !cluster.plan.health) continue;
    Check& check = checks_[framework];
    if (check.under_way || now < check.next) continue;
    check.under_way = true;
    out_.effects.push_back(CheckCluster{framework, *cluster.plan.health});
  }
}

HeadOutput HeadCore::checked(const std::string& framework, const Result<DataReport>& report) {
  const auto cluster = state_.clusters.find(framework);
  if (cluster == state_.clusters.end() || winding_down()) return take();
  const std::string found = report.has_value() ? report.value().problem : report.error().text();
  if (report.has_value())
    for (const auto& [service, bytes] : report.value().held) held_[service] = bytes;
  Check& check = checks_[framework];
  const bool first = !found.empty() && check.found.empty() && cluster->second.problem.empty();
  check = {clock_->steady() + (first ? timing_.check_again : timing_.check), false, found};
  if (!first && found != cluster->second.problem) emit(model::ClusterChecked{framework, found});
  return take();
}

// The first thing that is not as it should be; empty when all is well.
std::string HeadCore::problem() const {
  for (const auto& [id, allocation] : state_.allocations)
    if (allocation.phase == model::AllocationPhase::suspended)
      return fmt::format("{} is suspended by the batch system: {}", id, allocation.reason);
  for (const auto& [id, node] : state_.nodes) {
    if (node.phase == NodePhase::up || (is_leaving(id) && !is_bound(id))) continue;
    if (node.phase == NodePhase::released && node.draining) continue;
    std::string text = fmt::format("{} {}", id, to_string(node.phase));
    if (!node.reason.empty()) text += ": " + node.reason;
    return text;
  }
  for (const auto& [framework, cluster] : state_.clusters)
    for (const auto& spec : cluster.plan.services) {
      const auto& service = cluster.services.at(spec.id);
      const bool arrives = service.phase != ServicePhase::failed &&
                           (contains(cluster.arriving, spec.id) || joins(spec, service));
      if (service.phase != ServicePhase::ready && !arrives && !is_leaving(spec.node))
        return says(spec.id, service);
    }
  for (const auto& framework : state_.spec.frameworks) {
    const auto cluster = state_.clusters.find(framework.name);
    if (cluster == state_.clusters.end() || !cluster->second.ready)
      return framework.name + " does not answer yet";
    if (!cluster->second.problem.empty())
      return fmt::format("{}: {}", framework.name, cluster->second.problem);
  }
  return {};
}

void HeadCore::fail(std::string cause) {
  emit(model::PilotPhaseChanged{PilotPhase::failed, std::move(cause)});
}

bool HeadCore::ready_deadline_passed() const {
  return clock_->steady() - phase_entered_.second > state_.spec.ready_timeout;
}

}  // namespace pilot::agent
