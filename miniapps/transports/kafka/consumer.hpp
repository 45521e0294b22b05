// Messages of one Kafka topic, shared among the consumers of a group.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "miniapps/transports/kafka/client_config.hpp"
#include "miniapps/transports/transport.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::transports::kafka {

struct ConsumerOptions {
  std::string topic;
  std::string group;
  std::string instance;  // group.instance.id: a restarted member takes its partitions back; may be empty
  bool from_beginning = true;                                  // where a group without commits starts
  pilot::Bytes prefetch{64ULL << 20};                          // received ahead of receive(), about
  pilot::Duration connect_timeout = std::chrono::seconds(15);  // for the first answer of a broker
  pilot::Duration session_timeout = std::chrono::seconds(10);  // silent members lose their partitions
  pilot::Duration commit_interval = std::chrono::seconds(1);

  // Called inside receive() and close() when partitions come and go.  What is still unacknowledged of a
  // revoked partition goes to its next owner; on_revoked may wait for work to end and acknowledge it.
  std::function<void(const std::vector<std::int32_t>& partitions)> on_assigned;
  std::function<void(const std::vector<std::int32_t>& partitions)> on_revoked;
};

// Connects, checks that the topic exists, and joins the group.  Errors: usage (a property librdkafka
// refuses), unavailable (no broker answers, login refused), not_found (topic).
pilot::Result<std::unique_ptr<Consumer>> make_consumer(const ClientConfig& config, ConsumerOptions options);

}  // namespace miniapps::transports::kafka
