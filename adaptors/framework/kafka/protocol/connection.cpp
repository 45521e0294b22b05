#include "adaptors/framework/kafka/protocol/connection.hpp"

#include <fmt/format.h>

#include "adaptors/framework/kafka/protocol/wire.hpp"

namespace pilot::adaptors::kafka::protocol {

namespace {

// The metadata of a million partitions is about 100 MB.
constexpr std::int32_t most_bytes = 512 << 20;

}  // namespace

Result<Connection> Connection::open(const Endpoint& endpoint, const Access& access,
                                    const Deadline& deadline) {
  const auto what = fmt::format("broker at {}", endpoint.text());
  auto stream = Stream::open(endpoint, access, deadline);
  if (!stream.has_value()) return stream.error().while_doing(what);
  Connection connection(std::move(stream).value(), what);
  const auto ready = connection.log_in(access, deadline);
  if (!ready.has_value()) return ready.error().while_doing(what);
  return connection;
}

Result<void> Connection::log_in(const Access& access, const Deadline& deadline) {
  PILOT_TRY(const auto versions, exchange(api_versions_api, api_versions_request(), deadline));
  PILOT_TRY(const auto ranges, parse_api_versions(versions));
  for (const auto& range : ranges) versions_[range.key] = range;
  if (!access.login) return ok();
  PILOT_TRY(const auto handshake, exchange(sasl_handshake_api, sasl_handshake_request("PLAIN"), deadline));
  PILOT_TRY_VOID(parse_sasl_handshake(handshake));
  // RFC 4616: no authorization identity, user, password, with a zero byte before each of the latter.
  std::string secret;
  secret += '\0';
  secret += access.user;
  secret += '\0';
  secret += access.password;
  PILOT_TRY(const auto answer, exchange(sasl_authenticate_api, sasl_authenticate_request(secret), deadline));
  return parse_sasl_authenticate(answer);
}

Result<std::string> Connection::exchange(const Api& api, const std::string& body, const Deadline& deadline) {
  const auto correlation = ++correlation_;
  PILOT_TRY_VOID(stream_->write(framed(api, correlation, "pilot-kafka", body), deadline));
  PILOT_TRY(const auto length, stream_->read(4, deadline));
  const auto size = Reader(length).int32();
  if (size < 0 || size > most_bytes) {
    return make_error(ErrorCode::failed, fmt::format("an answer of {} bytes is not Kafka's", size),
                      "'security.protocol' may not be what the broker speaks");
  }
  PILOT_TRY(const auto answer, stream_->read(static_cast<std::size_t>(size), deadline));
  PILOT_TRY(const auto inner, unframed(api, correlation, answer));
  return std::string(inner);
}

Result<std::string> Connection::call(const Api& api, const std::string& body, const Deadline& deadline) {
  const auto range = versions_.find(api.key);
  if (range == versions_.end() || api.version < range->second.least || api.version > range->second.most) {
    return make_error(ErrorCode::failed,
                      range == versions_.end()
                          ? fmt::format("{} does not know {}", name_, api.name)
                          : fmt::format("{} speaks versions {} to {} of {}, not {}", name_,
                                        range->second.least, range->second.most, api.name, api.version),
                      "this program works with Kafka 3.3 to 4.3");
  }
  auto answer = exchange(api, body, deadline);
  if (!answer.has_value()) return answer.error().while_doing(fmt::format("{}: {}", name_, api.name));
  return answer;
}

}  // namespace pilot::adaptors::kafka::protocol
