// The cluster as its administrator sees it: what is where, what is under way, and changing it.  An interface,
// so that what is done with it can be tried against a cluster in memory.
#pragma once

#include <vector>

#include "adaptors/framework/kafka/protocol/messages.hpp"
#include "pilot/base/clock.hpp"

namespace pilot::adaptors::kafka::protocol {

// Errors of all: timed_out (the deadline passed; with the last cause), unavailable (no broker answers),
// failed (refused, in Kafka's words).
class Administrator {
 public:
  virtual ~Administrator() = default;

  virtual Result<ClusterState> metadata(const Deadline& deadline) = 0;
  virtual Result<std::vector<LogDir>> log_dirs(int broker, const Deadline& deadline) = 0;
  // Moves the broker's replicas to other directories: copies that replace them once they have caught up, and
  // are dropped when the directory named is the one a replica is in.  A broker that does not have a replica
  // yet answers replica_not_available, and makes it there when it comes, unless it is started anew before.
  virtual Result<std::vector<PartitionResult>> alter_log_dirs(int broker,
                                                              const std::vector<ReplicaPlace>& places,
                                                              const Deadline& deadline) = 0;

  // One result per partition; its own errors are in them.
  virtual Result<std::vector<PartitionResult>> alter_reassignments(const std::vector<Reassignment>& wishes,
                                                                   const Deadline& deadline) = 0;
  virtual Result<std::vector<Ongoing>> reassignments(const Deadline& deadline) = 0;
  virtual Result<std::vector<PartitionResult>> elect_preferred(const std::vector<PartitionName>& partitions,
                                                               const Deadline& deadline) = 0;

  // Topics' settings; a topic that is gone is no error.
  virtual Result<void> alter_topics(const std::vector<ConfigChange>& changes, const Deadline& deadline) = 0;
  virtual Result<std::vector<ConfigAnswer>> describe_topics(const std::vector<ConfigQuery>& queries,
                                                            const Deadline& deadline) = 0;
  // A broker's settings are asked of itself.
  virtual Result<void> alter_broker(int broker, const ConfigChange& change, const Deadline& deadline) = 0;
  virtual Result<ConfigAnswer> describe_broker(int broker, const std::vector<std::string>& keys,
                                               const Deadline& deadline) = 0;

  // Success when it is not registered.
  virtual Result<void> unregister(int broker, const Deadline& deadline) = 0;

  // How long one broker takes to answer the smallest question.
  virtual Result<Duration> round_trip(int broker, const Deadline& deadline) = 0;
};

}  // namespace pilot::adaptors::kafka::protocol
