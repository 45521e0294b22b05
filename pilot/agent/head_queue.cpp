// Extensions that wait for their nodes: who asked for them may be gone, so it is the head that asks what
// becomes of their jobs, until their agents tell.
#include "pilot/agent/head_core.hpp"

namespace pilot::agent {

using model::AllocationPhase;

void HeadCore::follow_queue() {
  if (winding_down()) return;
  const SteadyTime now = clock_->steady();
  for (const auto& [id, allocation] : state_.allocations) {
    if (id == base_allocation || allocation.joins || allocation.phase != AllocationPhase::pending) continue;
    const bool orphan = allocation.job_id.empty();
    const Duration patience = orphan ? timing_.orphaned : timing_.queue;
    Look& look = looks_.try_emplace(id, Look{now + patience, {}, false, {}}).first->second;
    if (look.under_way || now < look.next) continue;
    look.under_way = true;
    if (orphan)
      out_.effects.push_back(FindJob{id});
    else
      out_.effects.push_back(LookAtJob{id});
  }
}

// Who asked for it was killed, or never heard whether it was taken.  One that is late may still submit it, so
// that none now does not mean none.
HeadOutput HeadCore::job_found(const std::string& id, const Result<std::string>& job) {
  const SteadyTime now = clock_->steady();
  Look& look = looks_[id];
  look.under_way = false;
  look.next = now + timing_.queue;
  const auto found = state_.allocations.find(id);
  if (job.has_error() || winding_down() || found == state_.allocations.end() ||
      found->second.phase != AllocationPhase::pending || !found->second.job_id.empty())
    return take();
  if (!job.value().empty())
    emit(model::AllocationSubmitted{id, job.value(), found->second.nodes});
  else if (!look.none_since)
    look.none_since = now;
  else if (now - *look.none_since > timing_.never_asked)
    emit(model::AllocationChanged{id, AllocationPhase::ended, "nobody has asked for its nodes"});
  return take();
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
