#include "miniapps/cli/progress_printer.hpp"

#include <gmock/gmock.h>

namespace miniapps::cli {
namespace {

using namespace std::chrono_literals;

TEST(RecentRate, IsTheRateOfTheLastTwoSeconds) {
  RecentRate rate;
  double last = 0;
  for (int i = 0; i <= 100; ++i) last = rate.update(i * 100ms, static_cast<std::uint64_t>(10 * i));
  EXPECT_NEAR(last, 100, 1);
  for (int i = 1; i <= 25; ++i) last = rate.update(10s + i * 100ms, 1000);
  EXPECT_EQ(last, 0) << "nothing came for more than two seconds";
}

TEST(RecentRate, StartsWithTheWhole) {
  RecentRate rate;
  EXPECT_EQ(rate.update(0s, 0), 0);
  EXPECT_NEAR(rate.update(500ms, 10), 20, 1e-9);
}

// Standard error is no terminal in a test.
TEST(ProgressPrinter, PrintsALineEachFiveSeconds) {
  pilot::ManualClock clock;
  ProgressPrinter printer(ProgressMode::automatic, clock);
  EXPECT_FALSE(printer.due());
  clock.advance(4900ms);
  EXPECT_FALSE(printer.due());
  clock.advance(100ms);
  EXPECT_TRUE(printer.due());
  testing::internal::CaptureStderr();
  printer.print("12/200 acknowledged");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "12/200 acknowledged\n");
  EXPECT_FALSE(printer.due());
}

TEST(ProgressPrinter, CanBeSilent) {
  pilot::ManualClock clock;
  ProgressPrinter printer(ProgressMode::none, clock);
  clock.advance(1h);
  EXPECT_FALSE(printer.due());
}

TEST(ProgressPrinter, RefusesUnknownModes) {
  EXPECT_EQ(parse_progress_mode("json").value(), ProgressMode::json);
  EXPECT_EQ(parse_progress_mode("jsno").error().code, pilot::ErrorCode::usage);
}

}  // namespace
}  // namespace miniapps::cli
