#include "adaptors/framework/kafka/rebalance/observation.hpp"

#include <algorithm>
#include <limits>

#include "adaptors/framework/kafka/protocol/error_codes.hpp"

namespace pilot::adaptors::kafka::rebalance {

namespace {

Result<void> observe_disks(protocol::Administrator& cluster, const Deadline& deadline, Observation& seen,
                           std::map<PartitionKey, std::uint64_t>& sizes) {
  for (auto& [id, broker] : seen.up) {
    PILOT_TRY(const auto folders, cluster.log_dirs(id, deadline));
    broker.room = {};
    for (const auto& folder : folders) {
      if (folder.error != protocol::no_error) continue;
      ++broker.folders;
      constexpr auto endless = std::numeric_limits<std::uint64_t>::max();
      const bool known = folder.usable_bytes >= 0 && broker.room.count != endless;
      broker.room.count =
          known ? broker.room.count + static_cast<std::uint64_t>(folder.usable_bytes) : endless;
      for (const auto& replica : folder.replicas) {
        const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, replica.bytes));
        auto& size = sizes[{replica.topic, replica.partition}];
        size = std::max(size, bytes);
        broker.held.count += bytes;
        broker.replicas += replica.future ? 0 : 1;
      }
    }
  }
  return ok();
}

bool is_uneven(const protocol::TopicState& topic, const Observation& seen) {
  std::set<std::size_t> counts;
  for (const auto& partition : topic.partitions)
    if (seen.ongoing.count({topic.name, partition.index}) == 0) counts.insert(partition.replicas.size());
  return counts.size() > 1;
}

}  // namespace

std::vector<int> target(const protocol::Ongoing& ongoing) {
  std::vector<int> list;
  std::copy_if(ongoing.replicas.begin(), ongoing.replicas.end(), std::back_inserter(list),
               [&](int id) { return !contains(ongoing.removing, id); });
  return list;
}

int Observation::listed(int broker) const {
  return static_cast<int>(std::count_if(partitions.begin(), partitions.end(), [&](const auto& partition) {
    return contains(partition.replicas, broker);
  }));
}

std::vector<protocol::PartitionName> not_preferred(const protocol::ClusterState& state) {
  std::vector<protocol::PartitionName> names;
  for (const auto& topic : state.topics) {
    for (const auto& partition : topic.partitions) {
      if (partition.replicas.empty() || partition.leader == -1) continue;
      const int first = partition.replicas.front();
      if (partition.leader != first && contains(partition.in_sync, first))
        names.push_back({topic.name, partition.index});
    }
  }
  return names;
}

Result<Observation> observe(protocol::Administrator& cluster, const Deadline& deadline) {
  Observation seen;
  // In this order: a move that ends between the two is then known by its target.  The other way round, the
  // metadata's replicas of before and after the move would pass for a list.
  PILOT_TRY(auto ongoing, cluster.reassignments(deadline));
  PILOT_TRY(const auto state, cluster.metadata(deadline));
  for (auto& one : ongoing) {
    const PartitionKey key(one.topic, one.partition);
    seen.ongoing.emplace(key, std::move(one));
  }
  for (const auto& broker : state.brokers) seen.up[broker.id].rack = broker.rack;
  std::map<PartitionKey, std::uint64_t> sizes;
  PILOT_TRY_VOID(observe_disks(cluster, deadline, seen, sizes));
  for (const auto& topic : state.topics) {
    seen.uneven = seen.uneven || is_uneven(topic, seen);
    for (const auto& partition : topic.partitions) {
      const PartitionKey key(topic.name, partition.index);
      const auto moving = seen.ongoing.find(key);
      auto list = moving == seen.ongoing.end() ? partition.replicas : target(moving->second);
      if (list.empty()) continue;
      seen.leaders[key] = partition.leader;
      if (partition.in_sync.size() < partition.replicas.size()) seen.out_of_sync.insert(key);
      const auto size = sizes.find(key);
      seen.partitions.push_back(
          {topic.name, partition.index, std::move(list), Bytes{size == sizes.end() ? 0 : size->second}});
    }
  }
  return seen;
}

}  // namespace pilot::adaptors::kafka::rebalance
