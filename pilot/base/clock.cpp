#include "pilot/base/clock.hpp"

#include <fmt/format.h>

#include <ctime>

namespace pilot {
namespace {

class SystemClock final : public Clock {
 public:
  WallTime wall() const override {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  }
  SteadyTime steady() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

std::optional<WallTime> unix_time(std::int64_t seconds) {
  constexpr std::int64_t most = std::int64_t{1} << 33;
  if (seconds < 0 || seconds > most) return std::nullopt;
  return WallTime{std::chrono::seconds(seconds)};
}

std::string iso8601(WallTime time) {
  // Floored, so that the milliseconds are positive before 1970 too.
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time - whole).count();
  const std::time_t seconds = static_cast<std::time_t>(whole.time_since_epoch().count());
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, ms);
}

}  // namespace pilot
