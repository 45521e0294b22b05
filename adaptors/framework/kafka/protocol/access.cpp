#include "adaptors/framework/kafka/protocol/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace pilot::adaptors::kafka::protocol {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Error unknown(const char* key, const std::string& value, const char* known) {
  return make_error(ErrorCode::usage, fmt::format("setting '{}' is '{}'; it can be {}", key, value, known));
}

Result<std::vector<Endpoint>> parse_bootstrap(const std::string& text) {
  std::vector<Endpoint> endpoints;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto comma = std::min(text.find(',', begin), text.size());
    auto part = text.substr(begin, comma - begin);
    begin = comma + 1;
    part.erase(0, part.find_first_not_of(' '));
    if (part.empty()) continue;
    PILOT_TRY(auto endpoint, parse_endpoint(part));
    endpoints.push_back(std::move(endpoint));
  }
  if (endpoints.empty()) return make_error(ErrorCode::usage, "setting 'bootstrap.servers' is missing");
  return endpoints;
}

}  // namespace

std::string Endpoint::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Result<Endpoint> parse_endpoint(const std::string& text) {
  const auto scheme = text.find("://");
  const auto rest = scheme == std::string::npos ? text : text.substr(scheme + 3);
  const auto bad = [&] {
    return make_error(ErrorCode::usage, fmt::format("'{}' is not of the form HOST:PORT", text));
  };
  const auto colon = rest.rfind(':');
  if (colon == std::string::npos || colon == 0) return bad();
  Endpoint endpoint{rest.substr(0, colon), 0};
  const auto digits = rest.substr(colon + 1, rest.find_last_not_of(' ') - colon);
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), endpoint.port);
  if (end.ec != std::errc{} || end.ptr != digits.data() + digits.size()) return bad();
  if (endpoint.port < 1 || endpoint.port > 65535) return bad();
  if (endpoint.host.front() == '[' && endpoint.host.back() == ']')
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  if (endpoint.host.empty()) return bad();
  return endpoint;
}

Result<Access> access_from(const std::vector<std::pair<std::string, std::string>>& settings) {
  Access access;
  std::string bootstrap;
  std::string protocol = "plaintext";
  std::string mechanism = "GSSAPI";  // librdkafka's default
  for (const auto& [key, value] : settings) {
    if (key == "bootstrap.servers" || key == "metadata.broker.list") bootstrap = value;
    if (key == "security.protocol") protocol = lower(value);
    if (key == "sasl.mechanisms" || key == "sasl.mechanism") mechanism = value;
    if (key == "sasl.username") access.user = value;
    if (key == "sasl.password") access.password = value;
    if (key == "ssl.ca.location") access.ca = value == "probe" ? "" : value;
    if (key == "ssl.endpoint.identification.algorithm") access.check_host = lower(value) != "none";
  }
  if (protocol != "plaintext" && protocol != "ssl" && protocol != "sasl_plaintext" && protocol != "sasl_ssl")
    return unknown("security.protocol", protocol, "plaintext, ssl, sasl_plaintext or sasl_ssl");
  access.tls = protocol == "ssl" || protocol == "sasl_ssl";
  access.login = protocol.rfind("sasl_", 0) == 0;
  if (access.login && mechanism != "PLAIN") return unknown("sasl.mechanisms", mechanism, "PLAIN only");
  if (access.login && (access.user.empty() || access.password.empty()))
    return make_error(ErrorCode::usage, "setting 'sasl.username' or 'sasl.password' is missing");
  PILOT_TRY(access.bootstrap, parse_bootstrap(bootstrap));
  return access;
}

}  // namespace pilot::adaptors::kafka::protocol
