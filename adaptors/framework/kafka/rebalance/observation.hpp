// What a cluster looks like now: the only thing that a rebalance knows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adaptors/framework/kafka/protocol/administrator.hpp"
#include "adaptors/framework/kafka/reassign/planner.hpp"

namespace pilot::adaptors::kafka::rebalance {

using PartitionKey = std::pair<std::string, int>;  // topic and index

struct BrokerObservation {
  std::string rack;
  Bytes room;        // free on its volumes; the largest number when it doesn't tell
  Bytes held;        // of replicas
  int replicas = 0;  // in its log directories; not the copies that will replace some
  int folders = 0;   // log directories that are on line
};

struct Observation {
  std::map<int, BrokerObservation> up;
  // With the lists that hold once what is under way is done.
  std::vector<reassign::Partition> partitions;
  std::map<PartitionKey, int> leaders;  // -1: none
  std::map<PartitionKey, protocol::Ongoing> ongoing;
  std::set<PartitionKey> out_of_sync;  // fewer in sync than replicas
  bool uneven = false;  // a topic's partitions differ in the number of replicas, and no move explains it

  // Replicas on a broker by the metadata, those that are to go not counted.
  int listed(int broker) const;
};

// Asks one broker for the metadata and every broker for its log directories.  A partition's size is that of
// its largest replica.
Result<Observation> observe(protocol::Administrator& cluster, const Deadline& deadline);

// Partitions that are led by another, though their first replica is in sync, by the metadata alone.
std::vector<protocol::PartitionName> not_preferred(const protocol::ClusterState& state);

// The list at the end of a reassignment.
std::vector<int> target(const protocol::Ongoing& ongoing);

inline bool contains(const std::vector<int>& ids, int id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace pilot::adaptors::kafka::rebalance
