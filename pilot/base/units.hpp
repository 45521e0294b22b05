// Quantities as people write them: "512M", "2h30m", "20/s".
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace pilot {

struct Bytes {
  std::uint64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

// "4096", "512K", "1.5G", "2GiB", "100MB": K, M, G, T are powers of 1024, with or without "iB";
// "kB", "MB", "GB", "TB" are powers of 1000.  Errors: usage.
Result<Bytes> parse_bytes(std::string_view text);

// "512 B", "1.5 GiB".
std::string format_bytes(Bytes bytes);

// "90", "90s", "2h30m", "1d", "250ms", and the batch systems' "MM:SS", "HH:MM:SS", "D-HH:MM:SS".
// A bare number means seconds; "us" and "ns" are known too.  Larger units come first.  Errors: usage.
Result<Duration> parse_duration(std::string_view text);

// "250ms", "3.4s", "2m05s", "1h12m", "2d03h": two units at most, the rest is cut off.
std::string format_duration(Duration duration);

// "20/s", "20", "5/min", "100/h", "max" (as fast as possible: 0).  Per second.  Errors: usage, also for
// zero, which would silently mean "max".
Result<double> parse_rate(std::string_view text);

}  // namespace pilot
