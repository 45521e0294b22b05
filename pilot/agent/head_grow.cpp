// Nodes that become part of the base's job instead of having one of their own.  A client has another job ask
// for them; from then on this is the head's: it has them handed over as soon as they are there, whether or
// not the client still waits, and starts their agents, since the base's script knows nothing of them.
#include <fmt/format.h>

#include <algorithm>

#include "pilot/agent/head_core.hpp"

namespace pilot::agent {

using model::AllocationPhase;
using model::PilotPhase;

bool HeadCore::has_joined(const model::AllocationState& allocation) const {
  const auto base = state_.allocations.find(allocation.joins.value_or(""));
  return base != state_.allocations.end() && allocation.job_id == base->second.job_id;
}

// Two changes of one job at a time would each undo the other.
bool HeadCore::is_being_resized(const std::string& job_id) const {
  const auto is_of_job = [&](const std::string& id) {
    const auto found = state_.allocations.find(id);
    return found != state_.allocations.end() && found->second.job_id == job_id;
  };
  return (growing_ && is_of_job(base_allocation)) || std::ranges::any_of(giving_back_, is_of_job);
}

void HeadCore::grow_in_place() {
  if (state_.phase != PilotPhase::ready && state_.phase != PilotPhase::degraded) return;
  for (const auto& [id, allocation] : state_.allocations) {
    if (!allocation.joins || allocation.phase == AllocationPhase::ended) continue;
    if (has_joined(allocation))
      start_agents_of(id, allocation);
    else
      ask_for_growth(id, allocation);
  }
}

void HeadCore::ask_for_growth(const std::string& id, const model::AllocationState& allocation) {
  const SteadyTime now = clock_->steady();
  const auto since = growing_since_.try_emplace(id, now).first->second;
  if (allocation.job_id.empty() && now - since < timing_.orphaned) return;
  const auto after = grow_after_.find(id);
  if (after != grow_after_.end() && now < after->second) return;
  const auto base = state_.allocations.find(*allocation.joins);
  if (base == state_.allocations.end() || is_being_resized(base->second.job_id)) return;
  growing_ = id;
  out_.effects.push_back(GrowBase{id, allocation.job_id});
}

HeadOutput HeadCore::grown(const std::string& id, const Result<plugin::AllocationStatus>& result) {
  growing_.reset();
  const SteadyTime now = clock_->steady();
  grow_after_[id] = now + timing_.grow;
  const auto found = state_.allocations.find(id);
  if (winding_down() || found == state_.allocations.end() || found->second.phase == AllocationPhase::ended)
    return take();
  if (result.has_error()) {
    if (result.error().code == ErrorCode::unavailable || result.error().code == ErrorCode::timed_out)
      grow_after_[id] = now + timing_.return_again;
    else
      emit(model::AllocationChanged{id, AllocationPhase::ended, result.error().text()});
    return take();
  }
  const auto& status = result.value();
  if (status.job_id != found->second.job_id && !status.job_id.empty())
    emit(model::AllocationSubmitted{id, status.job_id, found->second.nodes});
  if (has_joined(found->second))
    emit(model::AllocationChanged{id, AllocationPhase::running,
                                  fmt::format("part of the job of {}", *found->second.joins)});
  else if (status.phase == AllocationPhase::ended)
    emit(model::AllocationChanged{id, AllocationPhase::ended, status.reason});
  else if (status.job_id.empty() && now - growing_since_.at(id) > timing_.never_asked)
    emit(model::AllocationChanged{id, AllocationPhase::ended, "nobody has asked for its nodes"});
  return take();
}

// Those of nodes that never came; later ones are started again as any.
void HeadCore::start_agents_of(const std::string& id, const model::AllocationState& allocation) {
  const SteadyTime now = clock_->steady();
  for (int rank = 0; rank < allocation.nodes; ++rank) {
    const std::string node = fmt::format("node-{}", allocation.first_node + rank);
    if (state_.nodes.contains(node)) continue;
    const auto [found, is_new] =
        relaunches_.try_emplace(node, Relaunch{now, timing_.first_relaunch, false, false, {}});
    launch(node, id, rank, found->second);
  }
}

}  // namespace pilot::agent
