#include "miniapps/transports/kafka/kafka_error.hpp"

#include <fmt/format.h>

namespace miniapps::transports::kafka {
namespace {

using pilot::ErrorCode;

struct Advice {
  ErrorCode code = ErrorCode::failed;
  std::string_view hint;
};

constexpr std::string_view login_hint =
    "check sasl.username and sasl.password; a pilot's own are set by 'eval \"$(pilot env NAME)\"'";
constexpr std::string_view no_broker_hint =
    "is the cluster running ('pilot status NAME'), and is the address right?";
constexpr std::string_view silent_hint =
    "brokers that want a login or TLS don't answer a client that offers none: give --pilot NAME or "
    "--client-config FILE; else see 'pilot status NAME'";
constexpr std::string_view topic_hint = "'miniapp source' makes the topic unless --no-create is given";
constexpr std::string_view size_hint =
    "send fewer slices per message, or raise message.max.bytes of the brokers and max.message.bytes of the "
    "topic";
constexpr std::string_view replicas_hint =
    "too few brokers are up for min.insync.replicas; 'pilot status NAME' shows which are down";

Advice advice_for(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return {ErrorCode::unavailable, login_hint};
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
      return {ErrorCode::unavailable, no_broker_hint};
    case RD_KAFKA_RESP_ERR__SSL:
      return {ErrorCode::unavailable, "check security.protocol and ssl.ca.location"};
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
      return {ErrorCode::unavailable, silent_hint};
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
      return {ErrorCode::timed_out, no_broker_hint};
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return {ErrorCode::not_found, topic_hint};
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return {ErrorCode::failed, size_hint};
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
      return {ErrorCode::unavailable, replicas_hint};
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return {ErrorCode::failed, "this user is not allowed to; ask who owns the cluster"};
    default:
      return {};
  }
}

void cut(std::string& text, std::string_view from, std::string_view to) {
  const auto begin = text.find(from);
  if (begin == std::string::npos) return;
  const auto end = text.find(to, begin);
  if (end != std::string::npos) text.erase(begin, end + to.size() - begin);
}

void cut_tail(std::string& text, std::string_view from) {
  if (const auto begin = text.find(from); begin != std::string::npos) text.erase(begin);
}

}  // namespace

bool is_final(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR__FATAL:
      return true;
    default:
      return false;
  }
}

rd_kafka_resp_err_t cause(rd_kafka_resp_err_t code, std::string_view reason) {
  const bool lost = reason.find("Local: ") != std::string_view::npos ||
                    reason.find("SASL send failed") != std::string_view::npos;
  return code == RD_KAFKA_RESP_ERR__AUTHENTICATION && lost ? RD_KAFKA_RESP_ERR__TRANSPORT : code;
}

std::string plain_reason(std::string_view librdkafka_text) {
  std::string text(librdkafka_text);
  if (const auto scheme = text.find("://"); scheme != std::string::npos) text.erase(0, scheme + 3);
  cut(text, "/bootstrap", "bootstrap");
  cut(text, "Connect to ", "failed: ");
  cut_tail(text, " (after ");
  cut_tail(text, ", 1 identical error(s) suppressed");
  return text;
}

pilot::Error kafka_error(rd_kafka_resp_err_t code, std::string_view doing, std::string_view reason) {
  Advice advice = advice_for(code);
  // What librdkafka guesses when a broker hangs up on a client without credentials.
  if (reason.find("verify that security.protocol") != std::string_view::npos) advice.hint = silent_hint;
  const std::string why = reason.empty() ? std::string(rd_kafka_err2str(code)) : plain_reason(reason);
  return pilot::make_error(advice.code, fmt::format("{}: {}", doing, why), std::string(advice.hint));
}

}  // namespace miniapps::transports::kafka
