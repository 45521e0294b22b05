// librdkafka's error codes as sentences with a hint.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

#include "pilot/base/error.hpp"

namespace miniapps::transports::kafka {

// `doing` is what was tried ("connecting to 127.0.0.1:9092"); `reason` is librdkafka's text, may be empty.
pilot::Error kafka_error(rd_kafka_resp_err_t code, std::string_view doing, std::string_view reason);

// What really happened: librdkafka calls a connection that is lost during the login a failed login, and a
// broker that stops or starts loses some.  `reason` is librdkafka's text.
rd_kafka_resp_err_t cause(rd_kafka_resp_err_t code, std::string_view reason);

// Will no retry help: login refused, not allowed, fenced by a newer producer ...?
bool is_final(rd_kafka_resp_err_t code);

// "sasl_plaintext://host:9092/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after
// 0ms in state CONNECT)" -> "host:9092: Connection refused".
std::string plain_reason(std::string_view librdkafka_text);

}  // namespace miniapps::transports::kafka
