// The cluster as its administrator sees it: what is where, what is under way, and changing it.  librdkafka
// has no interface to reassignments, log directories or elections.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/protocol/connection.hpp"

namespace pilot::adaptors::kafka::protocol {

// Connections are made when needed and again after they broke; what is asked of any broker is asked of the
// next one when one does not answer.  Every request may be repeated without harm, and is.
// Errors of all: timed_out (the deadline passed; with the last cause), unavailable (no broker answers),
// failed (refused, in Kafka's words).
class ClusterClient {
 public:
  explicit ClusterClient(Access access) : access_(std::move(access)) {}

  Result<ClusterState> metadata(const Deadline& deadline);
  Result<std::vector<LogDir>> log_dirs(int broker, const Deadline& deadline);

  // One result per partition; its own errors are in them.
  Result<std::vector<PartitionResult>> alter_reassignments(const std::vector<Reassignment>& wishes,
                                                           const Deadline& deadline);
  Result<std::vector<Ongoing>> reassignments(const Deadline& deadline);
  Result<std::vector<PartitionResult>> elect_preferred(const std::vector<PartitionName>& partitions,
                                                       const Deadline& deadline);

  // Topics' settings; a topic that is gone is no error.
  Result<void> alter_topics(const std::vector<ConfigChange>& changes, const Deadline& deadline);
  Result<std::vector<ConfigAnswer>> describe_topics(const std::vector<ConfigQuery>& queries,
                                                    const Deadline& deadline);
  // A broker's settings are asked of itself.
  Result<void> alter_broker(int broker, const ConfigChange& change, const Deadline& deadline);
  Result<ConfigAnswer> describe_broker(int broker, const std::vector<std::string>& keys,
                                       const Deadline& deadline);

  // Success when it is not registered.
  Result<void> unregister(int broker, const Deadline& deadline);

  // How long one broker takes to answer the smallest question.
  Result<Duration> round_trip(int broker, const Deadline& deadline);

 private:
  Result<std::string> ask_any(const Api& api, const std::string& body, const Deadline& deadline);
  Result<std::string> ask(int broker, const Api& api, const std::string& body, const Deadline& deadline);
  Result<std::string> ask_at(const Endpoint& endpoint, const Api& api, const std::string& body,
                             const Deadline& deadline);
  std::vector<Endpoint> endpoints() const;

  Access access_;
  std::map<int, Endpoint> brokers_;
  std::map<std::string, Connection> connections_;
  std::string last_;  // the endpoint that answered last
};

}  // namespace pilot::adaptors::kafka::protocol
