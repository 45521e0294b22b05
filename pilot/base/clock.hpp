// The only door to time.  Code takes a Clock, so that tests advance time and never sleep.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace pilot {

using Duration = std::chrono::nanoseconds;
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;      // for people and for logs; may jump
  virtual SteadyTime steady() const = 0;  // for intervals; never goes back
};

// The machine's clocks.
const Clock& system_clock();

// A clock that stands still until a test moves it.
class ManualClock final : public Clock {
 public:
  WallTime wall() const override { return WallTime{start_wall_ + elapsed_}; }
  SteadyTime steady() const override { return SteadyTime{elapsed_}; }
  void advance(Duration by) { elapsed_ += by; }

 private:
  Duration start_wall_ = std::chrono::hours(24 * 365 * 50);
  Duration elapsed_{0};
};

// A point in steady time after which something is given up.
class Deadline {
 public:
  Deadline(const Clock& clock, Duration after) : clock_(&clock), at_(clock.steady() + after) {}
  bool passed() const { return clock_->steady() >= at_; }
  Duration left() const { return passed() ? Duration{0} : at_ - clock_->steady(); }

 private:
  const Clock* clock_;
  SteadyTime at_;
};

// "2026-11-29T17:35:13.123Z", UTC with milliseconds; the form of every time we write.
std::string iso8601(WallTime time);

// Seconds since 1970 as another program says them; nothing for those before it or beyond 2242, which a
// WallTime can't or need not hold.
std::optional<WallTime> unix_time(std::int64_t seconds);

}  // namespace pilot
