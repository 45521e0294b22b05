#include "pilot/base/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace pilot {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t max_count = std::numeric_limits<std::uint64_t>::max();

// Any magnitude with equal chance, which uniform 64-bit numbers are not.
std::uint64_t any_magnitude(std::mt19937_64& random) {
  return random() >> (random() % 64);
}

std::uint64_t bytes(std::string_view text) {
  const auto parsed = parse_bytes(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.has_value() ? parsed.value().count : 0;
}

Duration duration(std::string_view text) {
  const auto parsed = parse_duration(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.has_value() ? parsed.value() : Duration::min();
}

TEST(ParseBytes, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(bytes("0"), 0U);
  EXPECT_EQ(bytes("4096"), 4096U);
  EXPECT_EQ(bytes("512K"), 512U * 1024);
  EXPECT_EQ(bytes("512k"), 512U * 1024);
  EXPECT_EQ(bytes("1.5G"), 3ULL << 29);
  EXPECT_EQ(bytes("2GiB"), 2ULL << 30);
  EXPECT_EQ(bytes("1T"), 1ULL << 40);
  EXPECT_EQ(bytes("7kB"), 7000U);
  EXPECT_EQ(bytes("100MB"), 100'000'000U);
  EXPECT_EQ(bytes("1GB"), 1'000'000'000U);
  EXPECT_EQ(bytes("1.25TB"), 1'250'000'000'000U);
  EXPECT_EQ(bytes("512 B"), 512U);
  EXPECT_EQ(bytes("1.5 GiB"), 3ULL << 29);
  EXPECT_EQ(bytes("18446744073709551615"), max_count);
  EXPECT_EQ(bytes("16777215T"), 16777215ULL << 40);
}

TEST(ParseBytes, RefusesWithUsageErrorThatNamesTheText) {
  for (const char* text : {"",
                           " ",
                           "-1",
                           "+1",
                           "M",
                           ".5G",
                           "1.G",
                           "1.5",
                           "1.5B",
                           "1e3",
                           "0x10",
                           "inf",
                           "nan",
                           "5X",
                           "5KK",
                           "5Kib",
                           "5 ",
                           " 5",
                           "5  K",
                           "5MBs",
                           "18446744073709551616",
                           "16777216T",
                           "99999999999999999999999K"}) {
    const auto parsed = parse_bytes(text);
    ASSERT_TRUE(parsed.has_error()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::usage) << text;
    EXPECT_EQ(parsed.error().message, "'" + std::string(text) + "' is not a size in bytes");
    EXPECT_FALSE(parsed.error().hint.empty());
  }
}

TEST(FormatBytes, UsesTheLargestFittingUnit) {
  EXPECT_EQ(format_bytes({0}), "0 B");
  EXPECT_EQ(format_bytes({512}), "512 B");
  EXPECT_EQ(format_bytes({1023}), "1023 B");
  EXPECT_EQ(format_bytes({1024}), "1 KiB");
  EXPECT_EQ(format_bytes({3ULL << 29}), "1.5 GiB");
  EXPECT_EQ(format_bytes({(1ULL << 20) - 1}), "1 MiB");  // and not "1024 KiB"
  EXPECT_EQ(format_bytes({5ULL << 50}), "5120 TiB");
}

TEST(FormatBytes, RoundTripsWithinHalfOfTheLastDigit) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t count = any_magnitude(random) >> 1;  // rounding up must not overflow
    const std::string text = format_bytes({count});
    const auto again = static_cast<double>(bytes(text));
    // One decimal of a unit: at most half a tenth of it, and a unit is at most the (rounded) value.
    const double tolerance = count < 1024 ? 0 : 0.0501 * std::max(again, static_cast<double>(count));
    EXPECT_NEAR(again, static_cast<double>(count), tolerance) << count << " as " << text;
  }
}

TEST(ParseBytes, WholeNumbersOfUnitsRoundTripExactly) {
  std::mt19937_64 random(4);
  const std::pair<const char*, std::uint64_t> units[] = {
      {"", 1},      {"K", 1ULL << 10}, {"MiB", 1ULL << 20},   {"G", 1ULL << 30},        {"T", 1ULL << 40},
      {"kB", 1000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}};
  for (int round = 0; round < 5000; ++round) {
    const auto& [name, size] = units[random() % std::size(units)];
    const std::uint64_t number = any_magnitude(random) % (max_count / size);
    EXPECT_EQ(bytes(std::to_string(number) + name), number * size) << number << name;
  }
}

TEST(ParseDuration, KnowsTerms) {
  EXPECT_EQ(duration("0"), 0ns);
  EXPECT_EQ(duration("90"), 90s);
  EXPECT_EQ(duration("1.5"), 1500ms);
  EXPECT_EQ(duration("90s"), 90s);
  EXPECT_EQ(duration("2h30m"), 150min);
  EXPECT_EQ(duration("1d"), 24h);
  EXPECT_EQ(duration("250ms"), 250ms);
  EXPECT_EQ(duration("1.5h"), 90min);
  EXPECT_EQ(duration("1d2h3m4s5ms6us7ns"), 26h + 3min + 4s + 5ms + 6us + 7ns);
}

TEST(ParseDuration, KnowsTheBatchSystemsForms) {
  EXPECT_EQ(duration("05:30"), 5min + 30s);
  EXPECT_EQ(duration("90:00"), 90min);
  EXPECT_EQ(duration("01:30:00"), 90min);
  EXPECT_EQ(duration("100:00:01"), 100h + 1s);
  EXPECT_EQ(duration("2-03:04:05"), 51h + 4min + 5s);
}

TEST(ParseDuration, RefusesWithUsageErrorThatNamesTheText) {
  for (const char* text : {"",
                           "s",
                           "-1s",
                           "1x",
                           "30m2h",
                           "1m1m",
                           "2h30",
                           "1 s",
                           "1.s",
                           ".5s",
                           "1e3s",
                           "inf",
                           "5:60",
                           "1:60:00",
                           "1-24:00:00",
                           "1-00:00",
                           "1-",
                           "-01:00:00",
                           "1:2:3:4",
                           "1:",
                           ":1",
                           "1.5:00",
                           "1.5-00:00:00",
                           "1:00s",
                           "1d01:00:00",
                           "106752d",
                           "9223372036854775808ns",
                           "99999999999999999999"}) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed.has_error()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::usage) << text;
    EXPECT_EQ(parsed.error().message, "'" + std::string(text) + "' is not a duration");
  }
}

TEST(FormatDuration, ShowsTwoUnitsAtMost) {
  EXPECT_EQ(format_duration(0ns), "0s");
  EXPECT_EQ(format_duration(15ns), "15ns");
  EXPECT_EQ(format_duration(15us), "15us");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(3s), "3s");
  EXPECT_EQ(format_duration(3400ms), "3.4s");
  EXPECT_EQ(format_duration(59999ms), "59.9s");
  EXPECT_EQ(format_duration(60s), "1m00s");
  EXPECT_EQ(format_duration(125s), "2m05s");
  EXPECT_EQ(format_duration(72min), "1h12m");
  EXPECT_EQ(format_duration(51h), "2d03h");
  EXPECT_EQ(format_duration(-72min), "-1h12m");
  EXPECT_EQ(format_duration(Duration::min()), "-106751d23h");
}

// What is cut off is less than one of the last unit shown.
TEST(FormatDuration, RoundTripsUpToWhatIsCutOff) {
  std::mt19937_64 random(5);
  const auto last_unit = [](Duration d) -> Duration {
    if (d < 1us) return 1ns;
    if (d < 1ms) return 1us;
    if (d < 1s) return 1ms;
    if (d < 1min) return 100ms;
    if (d < 1h) return 1s;
    if (d < 24h) return 1min;
    return 1h;
  };
  for (int round = 0; round < 20000; ++round) {
    const Duration exact{static_cast<std::int64_t>(any_magnitude(random) >> 1)};
    const std::string text = format_duration(exact);
    const Duration shown = duration(text);
    EXPECT_LE(shown, exact) << text;
    EXPECT_LT(exact - shown, last_unit(exact)) << text;
    EXPECT_EQ(format_duration(shown), text);
  }
}

TEST(ParseRate, IsPerSecond) {
  EXPECT_DOUBLE_EQ(parse_rate("20/s").value(), 20);
  EXPECT_DOUBLE_EQ(parse_rate("20").value(), 20);
  EXPECT_DOUBLE_EQ(parse_rate("0.5/s").value(), 0.5);
  EXPECT_DOUBLE_EQ(parse_rate("5/min").value(), 5.0 / 60);
  EXPECT_DOUBLE_EQ(parse_rate("100/h").value(), 100.0 / 3600);
  EXPECT_DOUBLE_EQ(parse_rate("max").value(), 0);
}

TEST(ParseRate, RefusesWithUsageErrorThatNamesTheText) {
  for (const char* text :
       {"", "0", "0/s", "0.0", "-1/s", "1/", "1/d", "1 /s", "/s", "MAX", "inf", "1e3/s", "1/s/s"}) {
    const auto parsed = parse_rate(text);
    ASSERT_TRUE(parsed.has_error()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::usage) << text;
    EXPECT_EQ(parsed.error().message, "'" + std::string(text) + "' is not a rate");
  }
}

}  // namespace
}  // namespace pilot
