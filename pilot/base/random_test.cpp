#include "pilot/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace pilot {
namespace {

TEST(RandomHex, HasTheAskedLengthAndDoesNotRepeat) {
  std::set<std::string> seen;
  for (int round = 0; round < 1000; ++round) {
    const std::string secret = random_hex(32);
    ASSERT_EQ(secret.size(), 64U);
    ASSERT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(secret);
  }
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(random_hex(0), "");
}

// 64 KiB: each digit is expected 8192 times with a standard deviation of 88.
TEST(RandomHex, UsesAllDigitsEvenly) {
  const std::string digits = random_hex(64 * 1024);
  for (const char digit : std::string("0123456789abcdef")) {
    EXPECT_NEAR(static_cast<double>(std::count(digits.begin(), digits.end(), digit)), 8192, 8 * 88);
  }
}

}  // namespace
}  // namespace pilot
