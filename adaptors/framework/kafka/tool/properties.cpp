#include "adaptors/framework/kafka/tool/properties.hpp"

#include <fmt/format.h>

#include "pilot/base/file.hpp"

namespace pilot::adaptors::kafka {

namespace {

constexpr std::string_view blanks = " \t\f\r";

std::string_view without_leading_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

std::string_view without_trailing(std::string_view text, std::string_view characters) {
  const auto last = text.find_last_not_of(characters);
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

}  // namespace

Result<Properties> parse_properties(std::string_view text) {
  Properties properties;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = without_leading_blanks(without_trailing(text.substr(0, end), "\r"));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    const auto equals = line.find('=');
    const auto key = without_trailing(line.substr(0, equals), blanks);
    if (equals == std::string_view::npos || key.empty()) {
      return make_error(ErrorCode::usage, fmt::format("line {} is not of the form key=value", number));
    }
    properties.emplace_back(unescaped(key), unescaped(without_leading_blanks(line.substr(equals + 1))));
  }
  return properties;
}

Result<Properties> read_properties(const std::filesystem::path& path) {
  PILOT_TRY(const auto text, read_file(path));
  auto properties = parse_properties(text);
  if (!properties.has_value())
    return properties.error().while_doing(fmt::format("reading '{}'", path.string()));
  return properties;
}

std::string value_of(const Properties& properties, std::string_view key) {
  std::string value;
  for (const auto& [name, text] : properties) {
    if (name == key) value = text;
  }
  return value;
}

}  // namespace pilot::adaptors::kafka
