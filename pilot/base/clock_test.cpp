#include "pilot/base/clock.hpp"

#include <gtest/gtest.h>

namespace pilot {
namespace {

using namespace std::chrono_literals;

TEST(Clock, ManualClockStandsStillUntilMoved) {
  ManualClock clock;
  const auto wall = clock.wall();
  const auto steady = clock.steady();
  EXPECT_EQ(clock.wall(), wall);
  clock.advance(3s);
  EXPECT_EQ(clock.wall() - wall, 3s);
  EXPECT_EQ(clock.steady() - steady, 3s);
}

TEST(Clock, SystemClockDoesNotGoBack) {
  const auto before = system_clock().steady();
  EXPECT_GE(system_clock().steady(), before);
  EXPECT_GT(system_clock().wall(), WallTime{std::chrono::hours(24 * 365 * 50)});
}

TEST(Deadline, PassesExactlyAtItsTime) {
  ManualClock clock;
  const Deadline deadline(clock, 10ms);
  EXPECT_FALSE(deadline.passed());
  EXPECT_EQ(deadline.left(), 10ms);
  clock.advance(9ms);
  EXPECT_EQ(deadline.left(), 1ms);
  clock.advance(1ms);
  EXPECT_TRUE(deadline.passed());
  EXPECT_EQ(deadline.left(), 0ms);
  clock.advance(1h);
  EXPECT_EQ(deadline.left(), 0ms);
}

TEST(UnixTime, HoldsWhatNanosecondsCan) {
  EXPECT_EQ(unix_time(0), WallTime{});
  EXPECT_EQ(unix_time(1796060113), WallTime{1796060113s});
  EXPECT_EQ(unix_time(-1), std::nullopt);
  EXPECT_EQ(unix_time(-61317938663), std::nullopt) << "the year 26, as a damaged answer said";
  EXPECT_EQ(unix_time(std::int64_t{1} << 40), std::nullopt);
}

TEST(Iso8601, WritesUtcWithMilliseconds) {
  EXPECT_EQ(iso8601(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso8601(WallTime{1ns}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso8601(WallTime{1796060113s + 123456789ns}), "2026-11-30T17:35:13.123Z");
  EXPECT_EQ(iso8601(WallTime{951782400s}), "2000-02-29T00:00:00.000Z");
}

// Clocks of nodes without time may stand before 1970.
TEST(Iso8601, WritesTimesBefore1970) {
  EXPECT_EQ(iso8601(WallTime{-1ms}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(iso8601(WallTime{-1000ms}), "1969-12-31T23:59:59.000Z");
}

}  // namespace
}  // namespace pilot
