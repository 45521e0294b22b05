// For tests of all layers: waits for a condition, never longer than a deadline that a busy machine keeps.
#pragma once

#include <thread>

#include "pilot/base/clock.hpp"
#include "pilot/base/event_loop.hpp"

namespace pilot::test {

inline constexpr Duration patience = std::chrono::seconds(60);

// False when the condition does not hold within `limit`.
template <typename Condition>
bool eventually(Condition condition, Duration limit = patience) {
  const Deadline deadline(system_clock(), limit);
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // less would starve what it waits for
  }
  return true;
}

// The same, and runs the loop meanwhile.
template <typename Condition>
bool eventually(EventLoop& loop, Condition condition, Duration limit = patience) {
  const Deadline deadline(system_clock(), limit);
  while (!condition()) {
    if (deadline.passed()) return false;
    loop.run_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace pilot::test
