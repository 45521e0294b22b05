// What must not hold up, or undo, a rebalance: brokers that go, partitions that nobody has, producers that
// write on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/framework/kafka/rebalance/test_support.hpp"

namespace pilot::adaptors::kafka::rebalance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RebalanceInTrouble : public RebalanceFixture {
 protected:
  RebalanceInTrouble() {
    cluster_.up = {1, 2, 3, 4};
    for (int i = 0; i < 12; ++i) cluster_.add("t", i, {i % 4 + 1, (i + 1) % 4 + 1}, 1000);
    options_.drain = {4};
  }
};

// Producers write on while a replica is copied; it is in sync long after it has what there was at first.
TEST_F(RebalanceInTrouble, AMoveIsNotStalledWhileBytesArriveThatWereWrittenSince) {
  at_wait_ = [&](int) {
    if (cluster_.moving()) cluster_.partitions.at({"t", 3}).bytes = 100000;
  };
  pace_ = 100;
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_FALSE(cluster_.holds(4));
  for (const auto& look : notes_.looks) EXPECT_LE(look.moved, look.total);
}

TEST_F(RebalanceInTrouble, APartitionThatNobodyHasHoldsUpNothingElse) {
  cluster_.up = {1, 2, 3};
  for (auto& [key, partition] : cluster_.partitions) {
    if (partition.leader == 4) partition.leader = partition.list[1];
  }
  cluster_.add("a", 0, {4}, 10);
  cluster_.partitions.at({"a", 0}).leader = -1;
  cluster_.stuck = {{"a", 0}};
  for (const bool again : {false, true}) {  // a predecessor may have begun it
    if (again) cluster_.partitions.at({"a", 0}).wish = {1};
    const auto outcome = run();
    ASSERT_FALSE(outcome.has_value());
    EXPECT_THAT(outcome.error().text(),
                HasSubstr("1 partition can't be moved, for no broker with a replica is up: "
                          "the first is partition 0 of topic 'a', on 4"));
    for (const auto& [key, partition] : cluster_.partitions)
      EXPECT_EQ(partition.list == std::vector<int>{4}, key.first == "a") << key.first << key.second;
    EXPECT_FALSE(cluster_.moving());
    EXPECT_EQ(cluster_.throttles(), 0u);
  }
}

// Kafka adds a new wish to the one under way: cancelled, it would leave three replicas.
TEST_F(RebalanceInTrouble, WhatIsTurnedRoundKeepsTheNumberOfItsReplicas) {
  cluster_.partitions.at({"t", 0}).wish = {4, 3};  // from 1 and 2
  cluster_.stuck = {{"t", 0}};
  ASSERT_TRUE(run().has_value());
  EXPECT_THAT(cluster_.partitions.at({"t", 0}).list, ElementsAre(1, 2));
}

TEST_F(RebalanceInTrouble, ABrokerThatDoesNotAnswerKeepsItsThrottleAloneAndNotForLong) {
  for (const int id : {1, 2, 3}) cluster_.broker_settings[id]["leader.replication.throttled.rate"] = "1";
  cluster_.topic_settings["t"]["leader.replication.throttled.replicas"] = "0:1";
  cluster_.dead = {1};
  const Deadline deadline(clock_, std::chrono::seconds(30));
  const auto stays = release_all(cluster_, deadline, [&] { clock_.advance(std::chrono::seconds(10)); });
  ASSERT_TRUE(stays.has_error());
  EXPECT_THAT(stays.error().text(), HasSubstr("broker 1 is not up"));
  EXPECT_EQ(cluster_.throttles(), 1u);
  const Deadline later(clock_, std::chrono::seconds(30));
  EXPECT_EQ(release_all(cluster_, later, [&] { cluster_.dead.clear(); }).value(), 1);
  EXPECT_EQ(cluster_.throttles(), 0u);
}

TEST_F(RebalanceInTrouble, ABrokerThatGoesDownIsListedForAWhile) {
  at_wait_ = [&](int waits) {
    if (waits == 3) cluster_.dead = {3};
    if (waits == 12) cluster_.dead = {};
  };
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_EQ(cluster_.throttles(), 0u);
}

TEST_F(RebalanceInTrouble, LeadersThatCannotPassAreNotAskedForEver) {
  options_.drain = {};
  for (int i = 0; i < 5; ++i) {
    cluster_.partitions.at({"t", i}).leader = cluster_.partitions.at({"t", i}).list[1];
    cluster_.unelectable.insert({"t", i});
  }
  at_wait_ = [&](int waits) { stop_ = waits > 2000; };
  ASSERT_TRUE(run().has_value());
}

TEST_F(RebalanceInTrouble, AnEtaOfThousandsOfYearsIsNoneAtAll) {
  cluster_.add("z", 0, {4, 1}, std::int64_t{1} << 50);
  at_wait_ = [&](int waits) { stop_ = waits > 20; };
  (void)run();
  for (const auto& look : notes_.looks) EXPECT_GE(look.eta.value_or(Duration{0}), Duration{0});
}

}  // namespace
}  // namespace pilot::adaptors::kafka::rebalance
