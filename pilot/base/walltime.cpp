#include "pilot/base/walltime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "pilot/base/units.hpp"

namespace pilot {

Result<Duration> parse_walltime(std::string_view text) {
  if (!text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos &&
      text.find_first_not_of("0.") != std::string_view::npos)
    return make_error(ErrorCode::usage, fmt::format("'{}' may be minutes or seconds", text),
                      fmt::format("write {}m or {}s", text, text));
  const auto dash = text.find('-');
  std::string clock(text);
  if (dash != std::string_view::npos)  // from days on, sbatch's smaller fields may be left out
    for (auto colons = std::ranges::count(text, ':'); colons < 2; ++colons) clock += ":00";
  auto time = parse_duration(clock);
  if (time.has_error()) return parse_duration(text);  // says what was written
  return time;
}

}  // namespace pilot
