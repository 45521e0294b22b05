#include "pilot/base/walltime.hpp"

#include <gtest/gtest.h>

namespace pilot {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(Walltime, IsWrittenWithUnitsOrAsSbatchDoes) {
  EXPECT_EQ(parse_walltime("90m").value(), minutes(90));
  EXPECT_EQ(parse_walltime("1:30:00").value(), minutes(90));
  EXPECT_EQ(parse_walltime("1-0").value(), hours(24));
  EXPECT_EQ(parse_walltime("1-12").value(), hours(36));
  EXPECT_EQ(parse_walltime("2-01:30").value(), hours(49) + minutes(30));
  EXPECT_EQ(parse_walltime("1-00:00:00").value(), hours(24));
}

TEST(Walltime, ANumberAloneIsRefusedSinceSystemsDisagreeOnIt) {
  const auto number = parse_walltime("60");
  ASSERT_TRUE(number.has_error());
  EXPECT_EQ(number.error().text(), "'60' may be minutes or seconds; write 60m or 60s");
  EXPECT_TRUE(parse_walltime("1.5").has_error());
}

TEST(Walltime, WhatIsNoTimeIsRefused) {
  for (const char* text : {"", "-", "-5", "1-", "1-24", "1:2:3:4", "1-1:2:3:4", "1-x", "soon", "1h-2"})
    EXPECT_TRUE(parse_walltime(text).has_error()) << text;
}

}  // namespace
}  // namespace pilot
