// The administrator of a real cluster.  librdkafka has no interface to reassignments, log directories or
// elections.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/protocol/administrator.hpp"
#include "adaptors/framework/kafka/protocol/connection.hpp"

namespace pilot::adaptors::kafka::protocol {

// Connections are made when needed and again after they broke; what is asked of any broker is asked of the
// next one when one does not answer; one that is listed and refuses connections is waited for a little. Every
// request may be repeated without harm, and is.
class ClusterClient final : public Administrator {
 public:
  explicit ClusterClient(Access access) : access_(std::move(access)) {}

  Result<ClusterState> metadata(const Deadline& deadline) override;
  Result<std::vector<LogDir>> log_dirs(int broker, const Deadline& deadline) override;
  Result<std::vector<PartitionResult>> alter_log_dirs(int broker, const std::vector<ReplicaPlace>& places,
                                                      const Deadline& deadline) override;
  Result<std::vector<PartitionResult>> alter_reassignments(const std::vector<Reassignment>& wishes,
                                                           const Deadline& deadline) override;
  Result<std::vector<Ongoing>> reassignments(const Deadline& deadline) override;
  Result<std::vector<PartitionResult>> elect_preferred(const std::vector<PartitionName>& partitions,
                                                       const Deadline& deadline) override;
  Result<void> alter_topics(const std::vector<ConfigChange>& changes, const Deadline& deadline) override;
  Result<std::vector<ConfigAnswer>> describe_topics(const std::vector<ConfigQuery>& queries,
                                                    const Deadline& deadline) override;
  Result<void> alter_broker(int broker, const ConfigChange& change, const Deadline& deadline) override;
  Result<ConfigAnswer> describe_broker(int broker, const std::vector<std::string>& keys,
                                       const Deadline& deadline) override;
  Result<void> unregister(int broker, const Deadline& deadline) override;
  Result<Duration> round_trip(int broker, const Deadline& deadline) override;

  // The controllers that vote in the quorum.
  Result<std::vector<Voter>> voters(const Deadline& deadline);
  // Of a controller that was stopped, while most of the voters are up; success when it does not vote.
  Result<void> remove_voter(int controller, const Deadline& deadline);

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
