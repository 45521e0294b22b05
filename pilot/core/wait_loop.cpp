#include "pilot/core/wait_loop.hpp"

#include <thread>

namespace pilot::core {

namespace {

constexpr auto check_each = std::chrono::seconds(2);

// In a queue a job may well be for days.
bool is_queued(const model::PilotState& state) {
  const auto base = state.allocations.find("a0");
  return base != state.allocations.end() && base->second.phase == model::AllocationPhase::pending &&
         state.nodes.empty();
}

}  // namespace

Result<bool> wait_until(const Context& context, const RunningPilot& pilot, const WaitLoop& loop) {
  const Duration timeout = loop.timeout.value_or(std::chrono::hours(24 * 365));
  Deadline deadline(*context.clock, timeout);
  Deadline next_check(*context.clock, check_each);
  for (;;) {
    PILOT_TRY(const bool done, loop.look());
    if (done) return true;
    if (context.observer->interrupted()) return false;
    if (loop.queue_is_free && is_queued(pilot.state())) deadline = Deadline(*context.clock, timeout);
    if (deadline.passed()) return loop.late(*loop.timeout);
    if (next_check.passed()) {
      PILOT_TRY_VOID(loop.check());
      next_check = Deadline(*context.clock, check_each);
    }
    context.observer->waiting(pilot.state());
    std::this_thread::sleep_for(look_interval);
  }
}

}  // namespace pilot::core
