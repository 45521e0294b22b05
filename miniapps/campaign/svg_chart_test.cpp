#include "miniapps/campaign/svg_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace miniapps::campaign {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SvgChart, TicksAreRoundAndCoverTheData) {
  EXPECT_EQ(ticks_to(87, 4), (std::vector<double>{0, 50, 100}));
  EXPECT_EQ(ticks_to(8, 4), (std::vector<double>{0, 2, 4, 6, 8}));
  EXPECT_EQ(ticks_to(0, 4).back(), 1);
  EXPECT_EQ(ticks_to(std::numeric_limits<double>::quiet_NaN(), 4).back(), 1);
  for (double largest = 1e-4; largest < 1e9; largest *= 1.37) {
    const auto ticks = ticks_to(largest, 5);
    EXPECT_GE(ticks.back(), largest * 0.999);
    EXPECT_LE(ticks.size(), 7u);
    EXPECT_GE(ticks.size(), 3u);
  }
}

TEST(SvgChart, TextIsEscaped) {
  EXPECT_EQ(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_THAT(line_chart({{"<b>", "source", 0, {1}}}, {}, "MB/s", "a & b"), Not(HasSubstr("<b>")));
}

TEST(SvgChart, LineStepsThroughItsSeconds) {
  // 4 seconds over 500 units, 0 to 2 over 190.
  const auto chart = line_chart({{"rate", "source", 1, {2, 0, 1}}}, {}, "", "");
  EXPECT_THAT(chart, HasSubstr("d=\"M173.0 26.0H298.0L298.0 216.0H423.0L423.0 121.0H548.0\""));
  EXPECT_THAT(line_chart({}, {{"mean", "source", 3}}, "", ""), HasSubstr("source level"));
  EXPECT_THAT(line_chart({}, {}, "", ""), Not(HasSubstr("nan")));
}

TEST(SvgChart, HistogramHasABarPerBinAndItsMarks) {
  const auto chart = log_histogram({{1, 10, 3}, {10, 100, 6}}, {{"p50", 12}, {"p99", 99}}, "latency");
  EXPECT_THAT(chart, HasSubstr("1 ms to 10 ms: 3 messages"));
  EXPECT_THAT(chart, HasSubstr("10 ms to 100 ms: 6 messages"));
  EXPECT_THAT(chart, HasSubstr("p50 12 ms"));
  EXPECT_THAT(chart, Not(HasSubstr("nan")));
  EXPECT_THAT(log_histogram({}, {}, ""), HasSubstr("</svg>"));
  EXPECT_THAT(log_histogram({{0, 0.001, 1}}, {}, ""), Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace miniapps::campaign
