// Looking at a Kafka cluster and making topics.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "miniapps/transports/kafka/client_config.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::transports::kafka {

struct BrokerStatus {
  std::int32_t id = 0;
  std::string address;  // "host:port"
};

struct TopicStatus {
  std::string name;
  int partitions = 0;
};

struct ClusterStatus {
  std::vector<BrokerStatus> brokers;
  std::vector<TopicStatus> topics;

  const TopicStatus* find_topic(const std::string& name) const;
};

struct TopicSpec {
  std::string name;
  int partitions = 1;
  bool exact = true;     // false: a topic that exists serves with any number of partitions
  int replication = -1;  // -1: the brokers' default
  std::map<std::string, std::string> config;  // "max.message.bytes", ...
};

class Admin {
 public:
  // Errors: usage (a property librdkafka refuses).
  static pilot::Result<Admin> make(const ClientConfig& config);
  ~Admin();
  Admin(Admin&&) noexcept;
  Admin& operator=(Admin&&) noexcept;

  // Waits for a broker to answer.  Errors: unavailable, with the reason (login refused: at once).
  pilot::Result<ClusterStatus> describe(pilot::Duration limit);

  // The topic, or not_found with a suggestion.
  pilot::Result<TopicStatus> describe_topic(const std::string& name, pilot::Duration limit);

  // Makes the topic and waits until clients see all its partitions.  A topic that exists is success if
  // it has as many partitions or the wish is not exact, else usage.
  pilot::Result<TopicStatus> create_topic(const TopicSpec& spec, pilot::Duration limit);

 private:
  struct Impl;
  explicit Admin(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace miniapps::transports::kafka
