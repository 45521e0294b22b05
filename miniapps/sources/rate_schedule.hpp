// When message number i is due: start + i / rate.  Absolute, so waiting too long once does not shift what
// follows, and rounding never adds up.
#pragma once

#include <cstdint>

#include "pilot/base/clock.hpp"

namespace miniapps::sources {

class RateSchedule {
 public:
  // `per_second` 0: as fast as possible, everything is due at the start.
  RateSchedule(double per_second, pilot::SteadyTime start) : per_second_(per_second), start_(start) {}

  pilot::SteadyTime due(std::uint64_t message) const;

  // How far behind the schedule: the time since the first message that was not sent became due.
  pilot::Duration lag(std::uint64_t sent, pilot::SteadyTime now) const;

 private:
  double per_second_;
  pilot::SteadyTime start_;
};

}  // namespace miniapps::sources
