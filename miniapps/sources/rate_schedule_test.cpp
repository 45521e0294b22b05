#include "miniapps/sources/rate_schedule.hpp"

#include <gtest/gtest.h>

namespace miniapps::sources {
namespace {

using namespace std::chrono_literals;

TEST(RateSchedule, IsAbsolute) {
  const pilot::SteadyTime start{10s};
  const RateSchedule schedule(20, start);
  EXPECT_EQ(schedule.due(0), start);
  EXPECT_EQ(schedule.due(1), start + 50ms);
  EXPECT_EQ(schedule.due(20), start + 1s);
}

TEST(RateSchedule, DoesNotDriftInMonths) {
  const RateSchedule schedule(3, pilot::SteadyTime{});
  constexpr std::uint64_t seconds = 100ULL * 24 * 3600;
  EXPECT_EQ(schedule.due(3 * seconds), pilot::SteadyTime{} + std::chrono::seconds(seconds));
  const auto step = schedule.due(3 * seconds + 1) - schedule.due(3 * seconds);
  EXPECT_NEAR(static_cast<double>(step.count()), 1e9 / 3, 2);
}

TEST(RateSchedule, AsFastAsPossibleIsAlwaysDue) {
  const RateSchedule schedule(0, pilot::SteadyTime{5s});
  EXPECT_EQ(schedule.due(1'000'000), pilot::SteadyTime{5s});
  EXPECT_EQ(schedule.lag(3, pilot::SteadyTime{9s}), 0ns);
}

TEST(RateSchedule, LagIsTheAgeOfTheFirstUnsentMessage) {
  const RateSchedule schedule(10, pilot::SteadyTime{});
  EXPECT_EQ(schedule.lag(5, pilot::SteadyTime{400ms}), 0ns);
  EXPECT_EQ(schedule.lag(5, pilot::SteadyTime{800ms}), 300ms);
}

}  // namespace
}  // namespace miniapps::sources
