#include "adaptors/framework/kafka/tool/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pilot/base/suggest.hpp"
#include "pilot/base/units.hpp"

namespace pilot::adaptors::kafka {

namespace {

Result<int> parse_number(const std::string& what, std::string_view text) {
  int value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size() || value < 0) {
    return make_error(ErrorCode::usage, fmt::format("{} is '{}', which is not a number from 0", what, text));
  }
  return value;
}

}  // namespace

Result<Arguments> Arguments::parse(const std::vector<std::string>& words,
                                   const std::vector<std::string>& valued,
                                   const std::vector<std::string>& switches) {
  const auto among = [](const std::string& flag, const std::vector<std::string>& flags) {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  };
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].rfind("--", 0) != 0) {
      arguments.words_.push_back(words[i]);
      continue;
    }
    const auto equals = words[i].find('=');
    const auto flag = words[i].substr(0, equals);
    std::string value;
    if (among(flag, valued)) {
      if (equals == std::string::npos && i + 1 == words.size()) {
        return make_error(ErrorCode::usage, fmt::format("'{}' wants a value", flag));
      }
      value = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
    } else if (!among(flag, switches)) {
      auto known = valued;
      known.insert(known.end(), switches.begin(), switches.end());
      return make_error(ErrorCode::usage, fmt::format("no flag '{}'", flag), suggestion(flag, known));
    } else if (equals != std::string::npos) {
      return make_error(ErrorCode::usage, fmt::format("'{}' takes no value", flag));
    }
    if (!arguments.values_.emplace(flag, value).second) {
      return make_error(ErrorCode::usage, fmt::format("'{}' is given twice", flag));
    }
  }
  return arguments;
}

Result<std::string> Arguments::required(const std::string& flag) const {
  const auto found = values_.find(flag);
  if (found == values_.end()) return make_error(ErrorCode::usage, fmt::format("'{}' is missing", flag));
  return found->second;
}

std::string Arguments::text(const std::string& flag, const std::string& otherwise) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? otherwise : found->second;
}

Result<int> Arguments::number(const std::string& flag, int otherwise) const {
  const auto found = values_.find(flag);
  if (found == values_.end()) return otherwise;
  return parse_number(flag, found->second);
}

Result<Duration> Arguments::duration(const std::string& flag, Duration otherwise) const {
  const auto found = values_.find(flag);
  if (found == values_.end()) return otherwise;
  return parse_duration(found->second);
}

Result<int> Arguments::id(const std::string& flag) const {
  PILOT_TRY(const auto given, required(flag));
  PILOT_TRY(const auto ids, parse_ids(given));
  if (ids.size() == 1) return ids[0];
  return make_error(ErrorCode::usage, fmt::format("'{} {}' is not one id", flag, given));
}

Result<std::vector<int>> parse_ids(const std::string& text) {
  std::vector<int> ids;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto comma = std::min(text.find(',', begin), text.size());
    PILOT_TRY(const int id, parse_number("an id", std::string_view(text).substr(begin, comma - begin)));
    ids.push_back(id);
    begin = comma + 1;
  }
  return ids;
}

}  // namespace pilot::adaptors::kafka
