// A connection to a cluster, and the causes of its failures in librdkafka's words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

struct rd_kafka_s;

namespace pilot::adaptors::kafka {

struct BrokerInfo {
  int id = 0;
  std::string host;
  int port = 0;
};

struct PartitionInfo {
  int id = 0;
  int leader = -1;
  std::vector<int> replicas;
  std::vector<int> in_sync;
};

struct TopicInfo {
  std::string name;
  std::string error;  // why the broker can't tell more; empty when it can
  bool missing = false;
  std::vector<PartitionInfo> partitions;
};

struct Metadata {
  std::string answered_by;  // "host:port" of the broker that answered
  std::vector<BrokerInfo> brokers;
  std::vector<TopicInfo> topics;
};

struct NewTopic {
  std::string name;
  int partitions = 1;
  int replicas = -1;                                        // -1: the cluster's default
  std::vector<std::pair<std::string, std::string>> config;  // of the topic
};

class Client {
 public:
  // `config` is a file of librdkafka settings; `overrides` win.  Errors: not_found, usage (a setting that
  // librdkafka refuses).
  static Result<Client> open(const std::string& config,
                             const std::vector<std::pair<std::string, std::string>>& overrides);

  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // Whom to ask about: no topic, one by name, or all of them ("*").
  // Errors: timed_out, with the last cause; failed, when a cause will not go away (wrong password).
  Result<Metadata> metadata(const std::string& topic, const Deadline& deadline);

  // Errors: failed, in the broker's words; timed_out.  `exists` tells a topic that was there before.
  Result<void> create(const NewTopic& topic, const Deadline& deadline, bool& exists);

  // To `partitions` altogether.  Errors: failed, in the broker's words; timed_out.
  Result<void> grow(const std::string& topic, int partitions, const Deadline& deadline);

  // Lets callbacks run and waits up to `limit`.
  void poll(Duration limit);

  // Why the last connection failed; empty when none did.
  std::string last_cause() const;

 private:
  struct Causes;
  struct TopicChange;
  Client() = default;
  Result<void> change_topic(const TopicChange& change, const Deadline& deadline, bool& exists);
  Error time_out(const std::string& what) const;

  std::unique_ptr<Causes> causes_;
  rd_kafka_s* handle_ = nullptr;
};

}  // namespace pilot::adaptors::kafka
