// The way down: services by descending stage, then the nodes, then the head itself.  A start that has
// failed goes the same way, in phase `failed`.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pilot/agent/head_core.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

using model::NodePhase;
using model::PilotPhase;
using model::ServicePhase;

bool HeadCore::winding_down() const {
  return state_.phase == PilotPhase::stopping || model::is_final(state_.phase);
}

void HeadCore::wind_down() {
  if (finished_) return;
  if (!winding_down_since_) winding_down_since_ = clock_->steady();
  bool stopped = true;
  for (const auto& entry : state_.clusters) stopped = stop_services(entry) && stopped;
  if (!stopped || !release_nodes()) return;
  if (state_.phase == PilotPhase::stopping)
    emit(model::PilotPhaseChanged{PilotPhase::stopped, state_.reason});
  finished_ = true;
  out_.effects.push_back(Finish{});
}

// Running, on its way to it, or asked to be and not heard of yet.
bool HeadCore::is_active(const model::ServiceSpec& service) const {
  const auto phase = state_.service_state(service.id)->phase;
  if (phase != ServicePhase::planned) return !model::is_final(phase);
  const auto session = sessions_.find(service.node);
  return session != sessions_.end() && session->second.asked_to_run.contains(service.id);
}

// True when no service of the cluster has to be waited for.
bool HeadCore::stop_services(const ClusterEntry& entry) {
  const auto& [framework, cluster] = entry;
  int stage = std::numeric_limits<int>::min();
  for (const auto& spec : cluster.plan.services)
    if (is_active(spec) && !given_up_.contains(spec.id)) stage = std::max(stage, spec.stage);

  std::vector<const model::ServiceSpec*> active;
  Duration grace{0};
  for (const auto& spec : cluster.plan.services) {
    if (spec.stage != stage || !is_active(spec) || given_up_.contains(spec.id)) continue;
    active.push_back(&spec);
    grace = std::max(grace, spec.stop.grace);
  }
  if (active.empty()) return true;
  ask_to_stop(active);

  const SteadyTime now = clock_->steady();
  const auto limit = grace + timing_.stop_margin + timing_.lost_while_stopping;
  const auto deadline = stop_deadlines_.try_emplace({framework, stage}, now + limit).first->second;
  for (const auto* spec : active) {
    if (now >= deadline)
      note(fmt::format("{} did not stop within {}; going on", spec->id, format_duration(limit)));
    if (now >= deadline || is_given_up(spec->node)) given_up_.insert(spec->id);
  }
  const bool all_given_up =
      std::ranges::all_of(active, [&](auto* spec) { return given_up_.contains(spec->id); });
  return all_given_up && stop_services(entry);  // the next stage
}

void HeadCore::ask_to_stop(const std::vector<const model::ServiceSpec*>& services) {
  std::map<std::string, model::StopServices> by_node;
  for (const auto* spec : services) {
    const auto session = sessions_.find(spec->node);
    if (session != sessions_.end() && session->second.asked_to_stop.insert(spec->id).second)
      by_node[spec->node].services.push_back(spec->id);
  }
  for (auto& [node, stop] : by_node) send(sessions_.at(node).peer, std::move(stop));
}

// A node that has been lost for so long that stopping goes on without it.
bool HeadCore::is_given_up(const std::string& node) {
  if (given_up_.contains(node)) return true;
  if (sessions_.contains(node)) return false;
  const auto lost = lost_since_.find(node);
  const SteadyTime since = std::max(winding_down_since_.value_or(started_at_),
                                    lost == lost_since_.end() ? started_at_ : lost->second);
  const auto relaunch = relaunches_.find(node);
  const bool over = relaunch != relaunches_.end() && relaunch->second.over;
  if (!over && clock_->steady() - since < timing_.lost_while_stopping) return false;
  given_up_.insert(node);
  note(fmt::format("{} can't be reached; what runs there, and its scratch folder, may be left", node));
  return true;
}

// True when no node has to be waited for.
bool HeadCore::release_nodes() {
  const SteadyTime now = clock_->steady();
  bool done = true;
  std::vector<std::string> nodes;
  for (const auto& [id, node] : state_.nodes)
    if (node.phase != NodePhase::released || sessions_.contains(id)) nodes.push_back(id);
  for (const auto& id : nodes) {
    const auto session = sessions_.find(id);
    if (session == sessions_.end()) {
      done = is_given_up(id) && done;
    } else if (auto& asked = session->second.asked_to_release; !asked) {
      asked = now;
      send(session->second.peer, model::ReleaseNode{});
      done = false;
    } else if (now - *asked < timing_.release) {
      done = false;
    } else if (given_up_.insert(id).second) {
      note(fmt::format("{} did not end within {}", id, format_duration(timing_.release)));
    }
  }
  return done;
}

}  // namespace pilot::agent
