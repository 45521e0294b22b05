// For tests: librdkafka's brokers inside this process.  No Java, no disk; a few megabytes per partition
// are kept.  It has no login, no admin requests and makes topics that are asked for by name.
#pragma once

#include <memory>
#include <string>

#include "miniapps/transports/kafka/client_config.hpp"

namespace miniapps::transports::kafka {

class MockCluster {
 public:
  explicit MockCluster(int brokers);
  ~MockCluster();

  ClientConfig config() const;
  void make_topic(const std::string& name, int partitions);

  // The next `count` produce requests are answered with librdkafka's error code `code`.
  void fail_produce(int code, int count);

  // From now on brokers answer questions about it with librdkafka's error code `code`; 0 ends that.
  void deny_topic(const std::string& name, int code);

  void set_broker_down(int id);
  void set_broker_up(int id);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace miniapps::transports::kafka
