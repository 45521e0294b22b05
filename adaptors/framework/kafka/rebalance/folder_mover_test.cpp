#include "adaptors/framework/kafka/rebalance/folder_mover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/framework/kafka/rebalance/test_support.hpp"

namespace pilot::adaptors::kafka::rebalance {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t mib = 1 << 20;

// Two brokers with two directories each, and all that is large in the first ones.
class KafkaFolders : public RebalanceFixture {
 protected:
  KafkaFolders() {
    cluster_.up = {1, 2};
    cluster_.folders = {{1, {"/a", "/b"}}, {2, {"/a", "/b"}}};
    for (int i = 0; i < 8; ++i) cluster_.add("t", i, {i % 2 + 1, (i + 1) % 2 + 1}, 10 * mib);
    pace_ = 3 * mib;
  }
  void put(int broker, int index, const std::string& path) { cluster_.paths[{broker, {"t", index}}] = path; }
  std::int64_t difference(int broker) const {
    return cluster_.bytes_in(broker, "/a") - cluster_.bytes_in(broker, "/b");
  }
};

TEST_F(KafkaFolders, BytesAreEvenedOutWithinABrokerAndNothingIsLeftBehind) {
  std::string rate;
  at_wait_ = [&](int) {
    if (cluster_.copying())
      rate = cluster_.broker_settings[2]["replica.alter.log.dirs.io.max.bytes.per.second"];
  };
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  for (const int broker : {1, 2}) EXPECT_EQ(difference(broker), 0) << broker;
  EXPECT_EQ(outcome.value().progress.moves_done, 8u);
  EXPECT_EQ(outcome.value().progress.moved.count, 80u * mib);
  EXPECT_EQ(outcome.value().folders.at(1).at("/b").count, 40u * mib);
  EXPECT_EQ(rate, std::to_string(32 << 20));
  EXPECT_EQ(cluster_.throttles(), 0u);
  EXPECT_EQ(outcome.value().released, 2);
  EXPECT_EQ(cluster_.submitted, 0) << "no move between brokers";
  // Twice is as good as once.
  const auto again = run();
  EXPECT_EQ(again.value().progress.moves, 0u);
}

TEST_F(KafkaFolders, ProgressCountsWhatIsCopied) {
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(notes_.looks.front().total.count, 80u * mib);
  EXPECT_GT(notes_.looks[2].moved.count, 0u);
  EXPECT_LT(notes_.looks[2].moved.count, 80u * mib);
  EXPECT_EQ(notes_.looks.back().moved.count, 80u * mib);
}

TEST_F(KafkaFolders, AReplicaFromAnotherBrokerIsMadeWhereTheFewestBytesAre) {
  cluster_.up = {1, 2, 3};
  cluster_.folders[3] = {"/a", "/b"};
  cluster_.add("large", 0, {3}, 30 * mib);
  cluster_.paths[{3, {"large", 0}}] = "/a";
  std::int64_t copied = 0;
  at_wait_ = [&](int) {
    for (const auto& [at, copy] : cluster_.copies) copied += at.first == 3 ? 1 : 0;
  };
  ASSERT_TRUE(run().has_value());
  EXPECT_GT(cluster_.submitted, 0);
  EXPECT_GT(cluster_.bytes_in(3, "/b"), 0);
  EXPECT_EQ(copied, 0) << "at once, not afterwards";
}

TEST_F(KafkaFolders, WhatABrokerRefusesItChoosesItself) {
  cluster_.up = {1, 2, 3};
  cluster_.folders[3] = {"/a", "/b"};
  cluster_.refuse_places_with = 57;
  for (const int broker : {1, 2})  // even already
    for (int i = 0; i < 4; ++i) put(broker, i, "/b");
  for (int i = 0; i < 8; ++i) cluster_.partitions.at({"t", i}).bytes = 1;
  ASSERT_TRUE(run().has_value());
  EXPECT_TRUE(cluster_.holds(3));
  EXPECT_THAT(notes_.steps, Contains(HasSubstr("broker 3 chooses log directories itself")));
  EXPECT_THAT(notes_.steps, Contains(HasSubstr("LOG_DIR_NOT_FOUND")));
}

TEST_F(KafkaFolders, WhereOthersAreEmptiedItWaits) {
  cluster_.up = {1, 2, 3};
  cluster_.folders[3] = {"/a", "/b"};
  options_.drain = {3};
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(difference(1), 80 * mib);
}

TEST_F(KafkaFolders, BrokersThatAreNotKeptStayAsTheyAre) {
  options_.keep = {1};
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(difference(1), 0);
  EXPECT_EQ(difference(2), 80 * mib);
}

TEST_F(KafkaFolders, ADirectoryThatIsOffLineIsNoTarget) {
  cluster_.offline = {"/b"};
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome.value().progress.moves, 0u);
  EXPECT_TRUE(outcome.value().folders.empty());
}

TEST_F(KafkaFolders, TakesOverFromAPredecessorThatWasKilled) {
  cluster_.copies[{1, {"t", 0}}] = {"/b", mib};
  cluster_.broker_settings[1]["replica.alter.log.dirs.io.max.bytes.per.second"] = "1";
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_THAT(notes_.steps, Contains(HasSubstr("1 replicas are on their way already")));
  EXPECT_EQ(outcome.value().progress.moves, 8u) << "and none twice";
  EXPECT_EQ(difference(1), 0);
  EXPECT_EQ(cluster_.throttles(), 0u);
}

TEST_F(KafkaFolders, AStalledCopyIsDroppedAndTheReplicaStays) {
  cluster_.copies_stuck = true;
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::partial);
  EXPECT_THAT(outcome.error().text(),
              HasSubstr("nothing moved for 2m00s: 8 of 8 moves wait, the first on broker "
                        "1 for partition 0 of topic 't' from /a to /b"));
  EXPECT_THAT(outcome.error().text(), HasSubstr("no throttle and no cordon is left"));
  EXPECT_FALSE(cluster_.copying());
  EXPECT_EQ(difference(1), 80 * mib);
  EXPECT_EQ(cluster_.throttles(), 0u);
}

TEST_F(KafkaFolders, StopsOnRequestAndTheNextRunGoesOn) {
  at_wait_ = [&](int) { stop_ = cluster_.copying() && cluster_.copies.begin()->second.bytes > 0; };
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(outcome.error().text(), HasSubstr("stopped on request"));
  EXPECT_FALSE(cluster_.copying());
  EXPECT_EQ(cluster_.throttles(), 0u);
  stop_ = false;
  at_wait_ = nullptr;
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(difference(1), 0);
}

TEST_F(KafkaFolders, ATopicDeletedMeanwhileIsNotWaitedFor) {
  at_wait_ = [&](int) {
    if (!cluster_.copying()) return;
    std::erase_if(cluster_.copies, [](const auto& copy) { return copy.first.second.second == 0; });
    cluster_.partitions.erase({"t", 0});
  };
  EXPECT_TRUE(run().has_value());
}

TEST_F(KafkaFolders, ARefusedMoveIsKafkasWordsAndNothingIsLeft) {
  cluster_.refuse_places_with = 56;
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::partial);
  EXPECT_THAT(outcome.error().text(), HasSubstr("moving partition 0 of topic 't' to another log directory of "
                                                "broker 1: the broker met an error of its disk"));
  EXPECT_EQ(cluster_.throttles(), 0u);
}

TEST(KafkaDisks, WhatIsOnItsWayCountsWhereItGoes) {
  const auto found = disks({{0, "/a", 9, 5, {{"t", 0, 100}, {"t", 1, 50}}},
                            {0, "/b", 9, -1, {{"t", 0, 30, true}}},
                            {56, "/c", -1, -1, {}}});
  ASSERT_THAT(found.folders, SizeIs(2));
  EXPECT_EQ(found.folders[0].room.count, 5u);
  EXPECT_EQ(found.folders[0].bytes().count, 50u);
  EXPECT_EQ(found.folders[1].bytes().count, 100u);
  ASSERT_THAT(found.copies, SizeIs(1));
  EXPECT_EQ(found.copies[0].move.from, "/a");
  EXPECT_EQ(found.copies[0].move.to, "/b");
  EXPECT_EQ(found.copies[0].copied.count, 30u);
}

}  // namespace
}  // namespace pilot::adaptors::kafka::rebalance
