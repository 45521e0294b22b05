// Random clusters as Kafka's own placement makes them, for the planner's tests and its benchmark.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/reassign/planner.hpp"

namespace pilot::adaptors::kafka::reassign {

struct Cluster {
  std::vector<Broker> brokers;
  std::vector<Partition> partitions;
};

struct ClusterShape {
  int brokers = 10;
  int partitions = 200;
  int replication = 3;
  int per_topic = 20;  // partitions
  int racks = 0;       // 0: unknown
};

// Lists go round the brokers with a shift per topic; sizes spread over a factor of 10 between topics and of
// 2 within one.  A number of a fixed generator, not a distribution of the library: the same everywhere.
inline Cluster random_cluster(const ClusterShape& shape, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Cluster cluster;
  for (int i = 0; i < shape.brokers; ++i) {
    cluster.brokers.push_back({i + 1, shape.racks == 0 ? "" : "rack-" + std::to_string(i % shape.racks)});
  }
  int start = 0;
  int topic_size = 0;
  for (int p = 0; p < shape.partitions; ++p) {
    const int index = p % shape.per_topic;
    if (index == 0) {
      start = below(shape.brokers);
      topic_size = 1'000'000 * (1 + below(10));
    }
    Partition partition{"topic-" + std::to_string(p / shape.per_topic), index, {}, {}};
    for (int r = 0; r < shape.replication; ++r) {
      partition.replicas.push_back((start + index + r) % shape.brokers + 1);
    }
    partition.size = Bytes{static_cast<std::uint64_t>(topic_size / 2 * 3 / 2 + below(topic_size / 2))};
    cluster.partitions.push_back(std::move(partition));
  }
  return cluster;
}

}  // namespace pilot::adaptors::kafka::reassign
