#include "adaptors/framework/kafka/reassign/planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "adaptors/framework/kafka/reassign/random_cluster.hpp"

namespace pilot::adaptors::kafka::reassign {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Held {
  std::uint64_t bytes = 0;
  int replicas = 0;
  int leaders = 0;
};

Cluster after(Cluster cluster, const Plan& plan) {
  std::map<std::pair<std::string, int>, std::vector<int>> to;
  for (const auto& move : plan.moves) to[{move.topic, move.index}] = move.to;
  for (auto& partition : cluster.partitions) {
    const auto at = to.find({partition.topic, partition.index});
    if (at != to.end()) partition.replicas = at->second;
  }
  return cluster;
}

std::map<int, Held> held(const Cluster& cluster) {
  std::map<int, Held> all;
  for (const auto& broker : cluster.brokers) all[broker.id];
  for (const auto& partition : cluster.partitions) {
    for (const int id : partition.replicas) {
      all[id].bytes += partition.size.count;
      ++all[id].replicas;
    }
    ++all[partition.replicas.front()].leaders;
  }
  return all;
}

double fair_bytes(const Cluster& cluster) {
  double total = 0;
  for (const auto& [id, what] : held(cluster)) total += static_cast<double>(what.bytes);
  return total / static_cast<double>(std::count_if(cluster.brokers.begin(), cluster.brokers.end(),
                                                   [](auto& b) { return b.role == Role::keep; }));
}

void expect_sound(const Cluster& before, const Plan& plan) {
  const auto then = after(before, plan);
  std::map<int, Broker> brokers;
  for (const auto& broker : before.brokers) brokers[broker.id] = broker;
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < then.partitions.size(); ++i) {
    const auto& now = then.partitions[i].replicas;
    EXPECT_EQ(now.size(), before.partitions[i].replicas.size());
    EXPECT_EQ(std::set<int>(now.begin(), now.end()).size(), now.size()) << "a broker twice";
    for (const int id : now) EXPECT_NE(brokers.at(id).role, Role::drain) << id;
  }
  for (const auto& move : plan.moves) {
    EXPECT_NE(move.from, move.to);
    moved += move.moved().count;
  }
  EXPECT_EQ(moved, plan.moved.count);
}

int same_rack(const Cluster& cluster) {
  std::map<int, std::string> racks;
  for (const auto& broker : cluster.brokers) racks[broker.id] = broker.rack;
  int pairs = 0;
  for (const auto& partition : cluster.partitions) {
    std::set<std::string> used;
    for (const int id : partition.replicas) pairs += used.insert(racks[id]).second ? 0 : 1;
  }
  return pairs;
}

class RandomClusters : public ::testing::TestWithParam<unsigned> {
 protected:
  Cluster cluster_ = random_cluster(
      {10 + static_cast<int>(GetParam() % 30), 400 + 40 * static_cast<int>(GetParam())}, GetParam());
};

TEST_P(RandomClusters, DrainMovesWhatTheDrainedHoldAndHardlyMore) {
  auto cluster = cluster_;
  for (int i = 0; i < 2; ++i) cluster.brokers[static_cast<std::size_t>(3 * i)].role = Role::drain;
  const auto before = held(cluster);
  const double bound = static_cast<double>(before.at(1).bytes + before.at(4).bytes);
  const auto made = plan(cluster.brokers, cluster.partitions).value();
  expect_sound(cluster, made);
  EXPECT_LE(static_cast<double>(made.moved.count), 1.05 * bound);
  // Who holds more than before holds no more than its share, or than it takes to be the least bad place.
  const double fair = fair_bytes(cluster);
  for (const auto& [id, what] : held(after(cluster, made))) {
    if (id == 1 || id == 4 || what.bytes == before.at(id).bytes) continue;
    EXPECT_LE(static_cast<double>(what.bytes) / fair, 1.1) << "broker " << id;
  }
}

TEST_P(RandomClusters, AddFillsTheNewBrokersToTheirShareAndHardlyMore) {
  auto cluster = cluster_;
  for (int i = 0; i < 2; ++i) cluster.brokers.push_back({1000 + i, ""});
  const auto made = plan(cluster.brokers, cluster.partitions).value();
  expect_sound(cluster, made);
  const double fair = fair_bytes(cluster);
  EXPECT_LE(static_cast<double>(made.moved.count), 1.05 * 2 * fair);
  const double leaders =
      static_cast<double>(cluster.partitions.size()) / static_cast<double>(cluster.brokers.size());
  const double replicas = 3 * leaders;
  for (const auto& [id, what] : held(after(cluster, made))) {
    if (id >= 1000) {
      EXPECT_NEAR(static_cast<double>(what.bytes) / fair, 1, 0.05) << "broker " << id;
      EXPECT_NEAR(what.replicas / replicas, 1, 0.1) << "broker " << id;
    }
    EXPECT_NEAR(what.leaders, leaders, 1 + 0.1 * leaders) << "broker " << id;
  }
}

TEST_P(RandomClusters, WhatIsBalancedStays) {
  auto cluster = cluster_;
  cluster.brokers.push_back({1000, ""});
  cluster.brokers[0].role = Role::drain;
  const auto first = after(cluster, plan(cluster.brokers, cluster.partitions).value());
  EXPECT_TRUE(plan(first.brokers, first.partitions).value().moves.empty());
  // With nobody to drain, the old unevenness is tidied up, once.
  auto second = first;
  second.brokers.erase(second.brokers.begin());
  second = after(second, plan(second.brokers, second.partitions).value());
  EXPECT_TRUE(plan(second.brokers, second.partitions).value().moves.empty());
  const double fair = fair_bytes(second);
  for (const auto& [id, what] : held(second)) {
    EXPECT_NEAR(static_cast<double>(what.bytes) / fair, 1, 0.21) << "broker " << id;
    EXPECT_NEAR(what.replicas / (3.0 * static_cast<double>(second.partitions.size()) /
                                 static_cast<double>(second.brokers.size())),
                1, 0.21)
        << "broker " << id;
  }
}

TEST_P(RandomClusters, RacksStayApart) {
  auto cluster = random_cluster({12, 240, 3, 12, 4}, GetParam());
  ASSERT_EQ(same_rack(cluster), 0);
  cluster.brokers[GetParam() % 12].role = Role::drain;
  cluster.brokers.push_back({50, "rack-1"});
  const auto made = plan(cluster.brokers, cluster.partitions).value();
  expect_sound(cluster, made);
  EXPECT_EQ(same_rack(after(cluster, made)), 0);
}

TEST_P(RandomClusters, SameInputSamePlanInAnyOrder) {
  auto cluster = cluster_;
  cluster.brokers[1].role = Role::drain;
  cluster.brokers.push_back({77, ""});
  const auto first = plan(cluster.brokers, cluster.partitions).value();
  std::reverse(cluster.brokers.begin(), cluster.brokers.end());
  std::reverse(cluster.partitions.begin(), cluster.partitions.end());
  const auto second = plan(cluster.brokers, cluster.partitions).value();
  ASSERT_EQ(first.moves.size(), second.moves.size());
  for (std::size_t i = 0; i < first.moves.size(); ++i) EXPECT_EQ(first.moves[i].to, second.moves[i].to);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomClusters, ::testing::Range(0u, 20u));

std::vector<Broker> three(Role third = Role::keep) {
  return {{1, ""}, {2, ""}, {3, "", third}};
}

TEST(Planner, RefusesMoreReplicasThanBrokersAreKeptWithTheNumbers) {
  const auto made = plan(three(Role::drain), {{"scans", 4, {1, 2, 3}, Bytes{5}}});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::usage);
  EXPECT_THAT(made.error().text(),
              HasSubstr("topic 'scans' has 3 replicas of partition 4, but without broker 3 "
                        "only 2 brokers are kept (1, 2)"));
}

TEST(Planner, RefusesWhatHasNoRoomWithTheNumbers) {
  auto brokers = three(Role::drain);
  brokers[0].room = brokers[1].room = Bytes{1024};
  const auto made = plan(brokers, {{"scans", 0, {3}, Bytes{4096}}});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::failed);
  EXPECT_THAT(made.error().text(),
              HasSubstr("4 KiB have to move and the 2 brokers that stay have 2 KiB free"));
  EXPECT_THAT(made.error().text(), HasSubstr("a replica of 4 KiB has no place"));
  EXPECT_THAT(made.error().text(), HasSubstr("more than 1 KiB free"));
}

TEST(Planner, RefusesABrokerNamedTwice) {
  EXPECT_EQ(plan({{1, ""}, {1, ""}}, {}).error().code, ErrorCode::usage);
}

TEST(Planner, BrokersThatAreNotNamedNeitherGiveNorGet) {
  const auto made =
      plan({{1, ""}, {2, ""}, {3, "", Role::drain}},
           {{"a", 0, {9, 3}, Bytes{10}}, {"a", 1, {9, 1}, Bytes{10}}, {"a", 2, {9, 1}, Bytes{10}}})
          .value();
  ASSERT_EQ(made.moves.size(), 1u);
  EXPECT_THAT(made.moves[0].to, ElementsAre(9, 2));
}

TEST(Planner, TopicsWithoutBytesAreSpreadByCount) {
  std::vector<Partition> partitions;
  for (int i = 0; i < 8; ++i) partitions.push_back({"__consumer_offsets", i, {1}, Bytes{0}});
  const auto made = plan({{1, ""}, {2, ""}}, partitions).value();
  EXPECT_EQ(made.moves.size(), 4u);
  EXPECT_EQ(made.moved.count, 0u);
}

TEST(Planner, LeadersAreSpreadWithoutMoving) {
  std::vector<Partition> partitions;
  for (int i = 0; i < 9; ++i) partitions.push_back({"t", i, {1, 2, 3}, Bytes{100}});
  const auto made = plan(three(), partitions).value();
  EXPECT_EQ(made.moved.count, 0u);
  for (const auto& [id, what] : held(after({three(), partitions}, made))) EXPECT_EQ(what.leaders, 3) << id;
}

// A leader that goes is a change for its producers in the middle of the move.
TEST(Planner, ANewBrokerIsFilledWithReplicasThatFollow) {
  std::vector<Partition> partitions;
  for (int i = 0; i < 24; ++i)
    partitions.push_back({"t",
                          i,
                          {i % 3 + 1, (i + 1) % 3 + 1, (i + 2) % 3 + 1},
                          Bytes{static_cast<std::uint64_t>(1000 + i % 7)}});
  auto brokers = three();
  brokers.push_back({4, ""});
  const auto made = plan(brokers, partitions).value();
  int to_new = 0;
  for (const auto& move : made.moves) {
    if (move.added().empty()) continue;
    ++to_new;
    EXPECT_THAT(move.to, Contains(move.from.front())) << "partition " << move.index;
  }
  EXPECT_NEAR(to_new, 18, 1);
  for (const auto& [id, what] : held(after({brokers, partitions}, made)))
    EXPECT_NEAR(what.leaders, 6, 1) << id;
}

// As few replicas as a small pilot has: hardly any fits exactly.
TEST(Planner, WhatWasEvenBeforeABrokerCameIsEvenAfterwards) {
  int moved_again = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Cluster cluster{{{1, ""}, {2, ""}}, {}};
    for (int i = 0; i < 30; ++i) {
      const int first = 1 + static_cast<int>(random() % 2);
      std::vector<int> replicas{first};
      if (random() % 2 == 0) replicas.push_back(3 - first);
      const auto size = i < 6 ? 2000 + random() % 500 : 0;
      cluster.partitions.push_back({"t" + std::to_string(i), 0, replicas, Bytes{size}});
    }
    for (int round = 0; round < 3; ++round)
      cluster = after(cluster, plan(cluster.brokers, cluster.partitions).value());
    if (!plan(cluster.brokers, cluster.partitions).value().moves.empty()) continue;
    cluster.brokers.push_back({3, ""});
    cluster = after(cluster, plan(cluster.brokers, cluster.partitions).value());
    const auto again = plan(cluster.brokers, cluster.partitions).value();
    moved_again += again.moved.count > 0 ? 1 : 0;
  }
  EXPECT_EQ(moved_again, 0);
}

// Of four brokers one is down, and one goes whatever is left on it.
TEST(Planner, AsFarAsPossibleMovesWhatHasAPlaceAndLeavesTheRestListed) {
  const std::vector<Broker> brokers{{2, ""}, {3, ""}, {4, "", Role::drain}};
  const std::vector<Partition> partitions{
      {"t", 0, {2, 4, 1}, Bytes{10}}, {"t", 1, {4, 2, 3}, Bytes{10}}, {"t", 2, {1, 3, 4}, Bytes{10}}};
  EXPECT_THAT(plan(brokers, partitions).error().text(), HasSubstr("has 3 replicas of partition 1"));
  const auto made = plan(brokers, partitions, {.balance = false, .as_far_as_possible = true}).value();
  ASSERT_EQ(made.moves.size(), 2u);
  EXPECT_THAT(made.moves[0].to, ElementsAre(2, 3, 1));
  EXPECT_THAT(made.moves[1].to, ElementsAre(1, 3, 2));
  EXPECT_EQ(made.without_place, 1u);
  const auto again =
      plan(brokers, after({brokers, partitions}, made).partitions, {.as_far_as_possible = true}).value();
  EXPECT_EQ(again.moved.count, 0u) << "what is left comes to no other place by itself";
}

TEST(Planner, LeadersPassOnAlongABrokerBetween) {
  // Broker 1 leads three and shares none with broker 3, which leads none.
  const std::vector<Partition> partitions{{"t", 0, {1, 2}, {}}, {"t", 1, {1, 2}, {}}, {"t", 2, {2, 3}, {}}};
  const auto made = plan(three(), partitions).value();
  for (const auto& [id, what] : held(after({three(), partitions}, made))) EXPECT_EQ(what.leaders, 1) << id;
}

TEST(Planner, WithoutBalanceOnlyTheDrainedMove) {
  const auto made =
      plan(three(Role::drain), {{"t", 0, {1}, Bytes{9}}, {"t", 1, {1}, Bytes{9}}, {"t", 2, {3}, Bytes{1}}},
           {false, 0.1})
          .value();
  ASSERT_EQ(made.moves.size(), 1u);
  EXPECT_THAT(made.moves[0].to, ElementsAre(2));
}

TEST(Batches, AreCutByBytesAndByCountWithReorderingLast) {
  const std::vector<Move> moves{{"a", 0, {1}, {2}, Bytes{10}},
                                {"a", 1, {1, 2}, {2, 1}, Bytes{99}},
                                {"a", 2, {1, 2}, {3, 4}, Bytes{5}},
                                {"a", 3, {1}, {2}, Bytes{500}},
                                {"a", 4, {1}, {2}, Bytes{1}}};
  std::vector<std::vector<int>> cut;
  for (const auto& batch : batches(moves, Bytes{20}, 2)) {
    cut.emplace_back();
    for (const auto& move : batch) cut.back().push_back(move.index);
  }
  EXPECT_THAT(cut, ElementsAre(ElementsAre(0, 2), ElementsAre(3), ElementsAre(4, 1)));
  EXPECT_EQ(moves[2].moved().count, 10u);
  EXPECT_TRUE(batches({}, Bytes{1}, 1).empty());
}

}  // namespace
}  // namespace pilot::adaptors::kafka::reassign
