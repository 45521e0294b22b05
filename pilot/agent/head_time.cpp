// Time, as far as others have a say in it: a job that its batch system has suspended, a head that stood
// still, nodes whose clocks are off.  Wall clocks of two machines are never compared to decide anything: how
// old an allocation is follows from its nodes' steady clocks, and how much longer it may live from what the
// batch system says twice.
#include <fmt/format.h>

#include <algorithm>

#include "pilot/agent/head_core.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

using model::AllocationPhase;
using model::NodePhase;

// Stopped together with its job, or held up by a disk.  Whoever spoke meanwhile was not heard, and nothing
// that was to happen within a time could: all of that begins anew.
void HeadCore::notice_standstill() {
  const SteadyTime now = clock_->steady();
  const Duration gap = now - std::exchange(ticked_at_, now);
  if (gap <= timing_.standstill) return;
  note(fmt::format("the head agent stood still for {}",
                   format_duration(std::chrono::round<std::chrono::seconds>(gap))));
  stood_still_at_ = now;
  for (auto& [node, session] : sessions_) session.heard = now;
  for (auto& [node, since] : lost_since_) since += gap;
  for (auto& [stage, deadline] : stop_deadlines_) deadline += gap;
  if (winding_down_since_) *winding_down_since_ += gap;
  phase_entered_.second += gap;
  jobs_.clear();  // what was heard of them is old
}

bool HeadCore::is_suspended(const std::string& allocation) const {
  const auto found = state_.allocations.find(allocation);
  return found != state_.allocations.end() && found->second.phase == AllocationPhase::suspended;
}

// Often while nodes of it are silent, since that may be why; else now and then for its end.
void HeadCore::look_at_jobs() {
  if (winding_down()) return;
  const SteadyTime now = clock_->steady();
  std::set<std::string> silent;
  for (const auto& [id, node] : state_.nodes)
    if (node.phase == NodePhase::lost) silent.insert(node.info.allocation);
  for (const auto& [id, allocation] : state_.allocations) {
    if (allocation.phase == AllocationPhase::ended || !allocation.started) continue;
    const bool urgent = silent.contains(id) || allocation.phase == AllocationPhase::suspended;
    if (!urgent && !allocation.walltime) continue;
    auto& look = jobs_[id];
    if (look.under_way || (look.last && now - *look.last < (urgent ? timing_.look_urgently : timing_.look)))
      continue;
    look = {now, true};
    out_.effects.push_back(LookAtJob{id});
  }
}

// An extension that its batch system has ended, by its time or by somebody's wish, while no head was there to
// be told: no agent of it comes back.
void HeadCore::notice_end_of_extension(const std::string& id, const std::string& reason) {
  const auto nodes = state_.nodes_of(id);
  if (id == base_allocation || std::ranges::any_of(nodes, [this](const auto& node) {
        return state_.nodes.at(node).phase == NodePhase::up;
      }))
    return;
  emit(model::AllocationChanged{id, AllocationPhase::ended, reason});
  for (const auto& node : nodes) {
    given_up_.insert(node);
    done_without_.insert(node);
    cordon(node, fmt::format("its job is over: {}", reason));
  }
}

// Only what the batch system says for certain counts: that it does not answer means nothing.
HeadOutput HeadCore::job_seen(const std::string& id, const Result<plugin::AllocationStatus>& result) {
  wait_seen(id, result);
  jobs_[id].under_way = false;
  const auto found = state_.allocations.find(id);
  if (found == state_.allocations.end() || !found->second.started || result.has_error() || winding_down())
    return take();
  const auto& status = result.value();
  const auto phase = found->second.phase;
  if (status.phase == AllocationPhase::suspended && phase != AllocationPhase::ended) {
    if (phase == AllocationPhase::suspended) return take();
    emit(model::AllocationChanged{id, AllocationPhase::suspended, status.reason, {}});
    if (state_.phase == model::PilotPhase::degraded)  // by its silent nodes: now we know better why
      emit(model::PilotPhaseChanged{model::PilotPhase::degraded, problem()});
  } else if (status.phase == AllocationPhase::running && phase != AllocationPhase::ended) {
    const bool resumed = phase == AllocationPhase::suspended;
    if (resumed)
      for (const auto& node : state_.nodes_of(id)) lost_since_[node] = clock_->steady();
    const auto& told = found->second.told_end;
    const bool moved = status.ends_at && found->second.walltime && !found->second.joins &&
                       (!told || std::chrono::abs(*status.ends_at - *told) >= timing_.moment);
    if (resumed || moved)
      emit(model::AllocationChanged{id, AllocationPhase::running, resumed ? "" : found->second.reason,
                                    moved ? status.ends_at : std::nullopt});
  } else if (status.phase == AllocationPhase::ended && phase != AllocationPhase::ended) {
    notice_end_of_extension(id, status.reason);
  }
  return take();
}

// What is left of an allocation's time.  As long as none of its nodes has said how old it is, nothing is
// known: the log tells when it began by the clock of a head that may have run elsewhere.
std::optional<Duration> HeadCore::time_left(const std::string& id) const {
  const auto& allocation = state_.allocations.at(id);
  const auto began = began_.find(id);
  if (!allocation.walltime || began == began_.end()) return std::nullopt;
  return began->second + *allocation.walltime + allocation.prolonged - clock_->steady();
}

// A message that waited while the head stood still tells an old time; of its ages the oldest counts.
bool HeadCore::tells_time() const {
  return !stood_still_at_ || clock_->steady() - *stood_still_at_ > timing_.node_silence;
}

void HeadCore::note_age(const model::RegisterNode& message) {
  const SteadyTime began = clock_->steady() - message.age.value_or(Duration{0});
  const auto [found, is_new] = began_.try_emplace(message.node.allocation, began);
  found->second = std::min(found->second, began);
}

// A moment's difference is the message's way.
Duration HeadCore::clock_ahead(const model::RegisterNode& message) const {
  const auto known = state_.nodes.find(message.node.id);
  if (!message.clock || !tells_time())
    return known == state_.nodes.end() ? Duration{0} : known->second.clock_ahead;
  const Duration ahead = *message.clock - clock_->wall();
  return std::chrono::abs(ahead) < timing_.clock_off ? Duration{0}
                                                     : std::chrono::round<std::chrono::seconds>(ahead);
}

}  // namespace pilot::agent
