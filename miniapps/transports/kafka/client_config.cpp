#include "miniapps/transports/kafka/client_config.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "pilot/base/file.hpp"

namespace miniapps::transports::kafka {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

std::string ClientConfig::bootstrap() const {
  const auto found = properties.find("bootstrap.servers");
  return found == properties.end() ? "(no bootstrap.servers)" : found->second;
}

pilot::Result<ClientConfig> parse_client_config(const std::string& text, const std::string& origin) {
  ClientConfig config{{}, origin};
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = trimmed(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line.front() == '#') continue;
    const auto equals = line.find('=');
    const auto key = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || key.empty())
      return pilot::make_error(
          pilot::ErrorCode::usage,
          fmt::format("{}:{}: expected 'key=value', found '{}'", origin, number, key.empty() ? line : key));
    config.properties[std::string(key)] = trimmed(line.substr(equals + 1));
  }
  return config;
}

pilot::Result<ClientConfig> read_client_config(const std::filesystem::path& path) {
  PILOT_TRY(const std::string text, pilot::read_file(path));
  return parse_client_config(text, path.string());
}

ClientConfig plain_client_config(const std::string& bootstrap) {
  return {{{"bootstrap.servers", bootstrap}}, bootstrap};
}

pilot::Result<void> set_property(ClientConfig& config, const std::string& key_value) {
  const auto equals = key_value.find('=');
  if (equals == std::string::npos || equals == 0)
    return pilot::make_error(pilot::ErrorCode::usage, fmt::format("'{}' is not 'key=value'", key_value),
                             "for example linger.ms=5");
  const std::string key = key_value.substr(0, equals);
  config.properties[key] = key_value.substr(equals + 1);
  config.origin += ", -X " + key;
  return pilot::ok();
}

}  // namespace miniapps::transports::kafka
