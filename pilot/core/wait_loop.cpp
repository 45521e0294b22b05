#include "pilot/core/wait_loop.hpp"

#include <thread>

namespace pilot::core {

namespace {

constexpr auto check_each = std::chrono::seconds(2);

}  // namespace

Result<bool> wait_until(const Context& context, const RunningPilot& pilot, const WaitLoop& loop) {
  const Deadline deadline(*context.clock, loop.timeout.value_or(std::chrono::hours(24 * 365)));
  Deadline next_check(*context.clock, check_each);
  for (;;) {
    PILOT_TRY(const bool done, loop.look());
    if (done) return true;
    if (context.observer->interrupted()) return false;
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
