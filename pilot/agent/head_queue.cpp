// Extensions that wait for their nodes: who asked for them may be gone, so it is the head that asks what
// becomes of their jobs, until their agents tell.
#include "pilot/agent/head_core.hpp"

namespace pilot::agent {

using model::AllocationPhase;

void HeadCore::follow_queue() {
  if (winding_down()) return;
  const SteadyTime now = clock_->steady();
  for (const auto& [id, allocation] : state_.allocations) {
    if (id == base_allocation || allocation.joins || allocation.phase != AllocationPhase::pending ||
        allocation.job_id.empty())
      continue;
    Look& look = looks_.try_emplace(id, Look{now + timing_.queue, {}, false}).first->second;
    if (look.under_way || now < look.next) continue;
    look.under_way = true;
    out_.effects.push_back(LookAtJob{id});
  }
}

void HeadCore::wait_seen(const std::string& id, const Result<plugin::AllocationStatus>& result) {
  const auto looked = looks_.find(id);
  if (looked == looks_.end()) return;
  const SteadyTime now = clock_->steady();
  Look& look = looked->second;
  look.under_way = false;
  look.next = now + timing_.queue;
  const auto found = state_.allocations.find(id);
  if (result.has_error() || winding_down() || found == state_.allocations.end() ||
      found->second.phase != AllocationPhase::pending)
    return;
  const auto& status = result.value();
  if (status.phase == AllocationPhase::ended) {
    emit(model::AllocationChanged{id, AllocationPhase::ended, status.reason});
  } else if (status.phase == AllocationPhase::pending && status.reason != found->second.reason &&
             now >= look.tell) {
    look.tell = now + timing_.queue_told;  // an estimate of its start may change each time
    emit(model::AllocationChanged{id, AllocationPhase::pending, status.reason});
  }
}

}  // namespace pilot::agent
