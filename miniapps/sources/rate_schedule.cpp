#include "miniapps/sources/rate_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace miniapps::sources {

pilot::SteadyTime RateSchedule::due(std::uint64_t message) const {
  if (per_second_ <= 0) return start_;
  // Whole seconds apart, so that a double's 53 bits are enough for months at any rate.
  const double seconds = static_cast<double>(message) / per_second_;
  const double whole = std::floor(seconds);
  return start_ + std::chrono::seconds(static_cast<std::int64_t>(whole)) +
         std::chrono::nanoseconds(std::llround((seconds - whole) * 1e9));
}

pilot::Duration RateSchedule::lag(std::uint64_t sent, pilot::SteadyTime now) const {
  if (per_second_ <= 0) return pilot::Duration{0};
  return std::max(pilot::Duration{0}, now - due(sent));
}

}  // namespace miniapps::sources
