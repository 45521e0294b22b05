// Messages into one Kafka topic: idempotent, acknowledged by all in-sync replicas, sent from the
// caller's memory without a copy.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "miniapps/transports/kafka/client_config.hpp"
#include "miniapps/transports/transport.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::transports::kafka {

struct ProducerOptions {
  std::string topic;
  pilot::Bytes queue{64ULL << 20};                             // bytes on their way before send() says "full"
  pilot::Duration connect_timeout = std::chrono::seconds(15);  // for the first answer of a broker
  pilot::Duration delivery_timeout = std::chrono::minutes(2);  // after which a message has failed
};

// Connects and looks the topic's partitions up.  Errors: usage (a property librdkafka refuses),
// unavailable (no broker answers, login refused), not_found (topic).
pilot::Result<std::unique_ptr<Producer>> make_producer(const ClientConfig& config, ProducerOptions options);

}  // namespace miniapps::transports::kafka
