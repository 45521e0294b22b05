#include "miniapps/transports/kafka/kafka_error.hpp"

#include <gmock/gmock.h>

namespace miniapps::transports::kafka {
namespace {

using testing::HasSubstr;

TEST(KafkaError, ReasonsLoseLibrdkafkasFrame) {
  EXPECT_EQ(plain_reason("127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused "
                         "(after 0ms in state CONNECT)"),
            "127.0.0.1:1: Connection refused");
  EXPECT_EQ(
      plain_reason("sasl_plaintext://h:9092/1: SASL authentication error: Authentication failed: Invalid "
                   "username or password (after 5ms in state AUTH_REQ, 1 identical error(s) suppressed)"),
      "h:9092/1: SASL authentication error: Authentication failed: Invalid username or password");
  EXPECT_EQ(plain_reason("Failed to resolve 'x'"), "Failed to resolve 'x'");
}

TEST(KafkaError, AConnectionThatIsLostDuringALoginIsNoRefusal) {
  constexpr auto login = RD_KAFKA_RESP_ERR__AUTHENTICATION;
  EXPECT_FALSE(
      is_final(cause(login,
                     "sasl_plaintext://h:9092/3: SASL PLAIN mechanism handshake failed: Local: Broker "
                     "transport failure: broker's supported mechanisms: (n/a) (after 1ms in state "
                     "AUTH_HANDSHAKE)")));
  EXPECT_FALSE(is_final(
      cause(login, "h:9092/3: SASL authentication error: SaslAuthenticateRequest failed: Local: Timed out")));
  EXPECT_TRUE(is_final(cause(
      login, "h:9092/3: SASL authentication error: Authentication failed: Invalid username or password")));
  EXPECT_TRUE(is_final(
      cause(login, "h:9092/3: SASL PLAIN mechanism handshake failed: Broker: Unsupported SASL mechanism")));
  EXPECT_EQ(cause(RD_KAFKA_RESP_ERR__FATAL, "Local: Fatal error"), RD_KAFKA_RESP_ERR__FATAL);
}

TEST(KafkaError, SaysWhatToDo) {
  const auto login = kafka_error(RD_KAFKA_RESP_ERR__AUTHENTICATION, "connecting to h:1", "Invalid password");
  EXPECT_EQ(login.code, pilot::ErrorCode::unavailable);
  EXPECT_THAT(login.text(), HasSubstr("connecting to h:1: Invalid password; check sasl.username"));
  EXPECT_THAT(kafka_error(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, "sending", "").hint,
              HasSubstr("fewer slices per message"));
  EXPECT_EQ(kafka_error(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "x", "").code, pilot::ErrorCode::not_found);
  EXPECT_THAT(kafka_error(RD_KAFKA_RESP_ERR__TIMED_OUT, "x", "").hint, HasSubstr("login or TLS"));
  const auto hung_up =
      kafka_error(RD_KAFKA_RESP_ERR__TRANSPORT, "x",
                  "127.0.0.1:1/bootstrap: Disconnected: verify that security.protocol is correctly "
                  "configured, broker might require SASL authentication (after 2ms in state UP)");
  EXPECT_THAT(hung_up.hint, HasSubstr("login or TLS"));
}

}  // namespace
}  // namespace miniapps::transports::kafka
