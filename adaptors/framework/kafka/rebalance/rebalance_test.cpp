#include "adaptors/framework/kafka/rebalance/rebalance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/framework/kafka/rebalance/rate_policy.hpp"
#include "adaptors/framework/kafka/rebalance/test_support.hpp"

namespace pilot::adaptors::kafka::rebalance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class KafkaRebalance : public RebalanceFixture {
 protected:
  KafkaRebalance() {
    cluster_.up = {1, 2, 3, 4};
    for (int i = 0; i < 12; ++i) cluster_.add("t", i, {i % 4 + 1, (i + 1) % 4 + 1}, 1000);
    for (int i = 0; i < 4; ++i) cluster_.add("__consumer_offsets", i, {i + 1, (i + 1) % 4 + 1}, 0);
    options_.drain = {4};
  }
};

TEST_F(KafkaRebalance, ADrainedBrokerEndsWithNothingAndNothingIsLeftBehind) {
  std::size_t throttles_on_the_way = 0;
  at_wait_ = [&](int) { throttles_on_the_way = std::max(throttles_on_the_way, cluster_.throttles()); };
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_GT(throttles_on_the_way, 0u);
  EXPECT_EQ(cluster_.throttles(), 0u);
  EXPECT_TRUE(cluster_.cordoned(4));
  EXPECT_THAT(cluster_.unregistered, IsEmpty()) << "it is up";
  const auto& progress = outcome.value().progress;
  EXPECT_EQ(progress.moved.count, 6000u);
  EXPECT_EQ(progress.total.count, 6000u);
  EXPECT_EQ(progress.moves_done, progress.moves);
  for (const auto& [key, partition] : cluster_.partitions) EXPECT_EQ(partition.leader, partition.list[0]);
}

TEST_F(KafkaRebalance, TwiceIsAsGoodAsOnce) {
  ASSERT_TRUE(run().has_value());
  const int before = cluster_.submitted;
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(cluster_.submitted, before);
}

TEST_F(KafkaRebalance, ProgressGrowsAndTellsWhatIsLeft) {
  ASSERT_TRUE(run().has_value());
  ASSERT_GT(notes_.looks.size(), 3u);
  for (std::size_t i = 1; i < notes_.looks.size(); ++i)
    EXPECT_GE(notes_.looks[i].moved, notes_.looks[i - 1].moved);
  EXPECT_FALSE(notes_.looks[0].eta.has_value());
  const auto midway = std::find_if(notes_.looks.begin(), notes_.looks.end(), [](const auto& look) {
    return look.moved.count > 0 && look.moved < look.total;
  });
  EXPECT_GT(midway->eta.value(), Duration{0});
  EXPECT_EQ(notes_.looks.back().eta.value(), Duration{0});
}

TEST_F(KafkaRebalance, TopicsBornMeanwhileAreMovedToo) {
  at_wait_ = [&](int waits) {
    if (waits == 2) cluster_.add("born", 0, {4, 1}, 500);
  };
  ASSERT_TRUE(run().has_value());
  EXPECT_FALSE(cluster_.holds(4));
}

TEST_F(KafkaRebalance, TakesOverFromAPredecessorThatWasKilled) {
  cluster_.partitions.at({"t", 3}).wish = {2, 1};  // away from 4
  cluster_.topic_settings["t"]["leader.replication.throttled.replicas"] = "3:4";
  cluster_.broker_settings[2]["leader.replication.throttled.rate"] = "1";
  cluster_.topic_settings["gone"]["follower.replication.throttled.replicas"] = "0:1";
  cluster_.add("gone", 0, {1, 2}, 0);
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_THAT(notes_.steps, Contains("1 moves are under way already: taking them over"));
  EXPECT_THAT(cluster_.partitions.at({"t", 3}).list, ElementsAre(2, 1));
  EXPECT_EQ(cluster_.throttles(), 0u);
  EXPECT_FALSE(cluster_.holds(4));
}

TEST_F(KafkaRebalance, AMoveThatEndsWhileTheClusterIsLookedAtCountsAsEnded) {
  cluster_.partitions.at({"t", 3}).wish = {2, 1};  // from 4 and 1
  cluster_.once_answered = [&] { cluster_.pass(1000); };
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_THAT(cluster_.partitions.at({"t", 3}).list, ElementsAre(2, 1));
}

TEST_F(KafkaRebalance, ABrokerThatHasNotHeardOfAMovesEndIsAskedAgain) {
  cluster_.partitions.at({"t", 3}).wish = {2, 1};
  cluster_.late_image = cluster_.image();  // with replicas on 4, 1 and 2
  cluster_.late_by = 3;
  cluster_.pass(1000);
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_THAT(cluster_.partitions.at({"t", 3}).list, ElementsAre(2, 1));
}

TEST_F(KafkaRebalance, ABrokerThatStartsAgainIsWaitedFor) {
  cluster_.add("wide", 0, {1, 3, 4}, 10);  // without 4, all of the others are needed
  cluster_.up = {1, 3, 4};
  at_wait_ = [&](int waits) {
    if (waits == 5) cluster_.up.insert(2);
  };
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_THAT(notes_.steps, Contains("broker 2 is not up; waiting for it, 30 s at most"));
  EXPECT_THAT(cluster_.partitions.at({"wide", 0}).list, ElementsAre(1, 3, 2));
}

TEST_F(KafkaRebalance, ABrokerThatStaysAwayIsLeftAsItIs) {
  cluster_.up = {1, 3, 4};
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_TRUE(cluster_.holds(2));
}

TEST_F(KafkaRebalance, ABrokerToKeepThatIsDownKeepsWhatIsListedThere) {
  cluster_.up = {1, 3, 4};
  options_.keep = {1, 2, 3};
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_TRUE(cluster_.holds(2));
}

// Its node's time is almost over, and another broker is down: nobody waits for that one, and what has no
// place is no reason to leave all else where it is.
TEST_F(KafkaRebalance, AsFarAsPossibleMovesAtOnceWhatHasAPlace) {
  cluster_.up = {1, 3, 4};
  cluster_.add("wide", 0, {3, 4, 1}, 10);
  options_.as_far_as_possible = true;
  const auto start = clock_.steady();
  std::optional<Duration> first;
  at_wait_ = [&](int) {
    if (!first && cluster_.submitted > 0) first = clock_.steady() - start;
  };
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::partial);
  EXPECT_THAT(outcome.error().text(), HasSubstr("1 replica of broker 4 has no place"));
  ASSERT_TRUE(first.has_value());
  EXPECT_LT(*first, std::chrono::seconds(5));
  cluster_.partitions.erase({"wide", 0});
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_EQ(cluster_.throttles(), 0u);
}

TEST_F(KafkaRebalance, AsFarAsPossibleWaitsForABrokerThatStartsAgainWhenSomethingIsLeft) {
  cluster_.up = {1, 3, 4};
  cluster_.add("wide", 0, {3, 4, 1}, 10);
  options_.as_far_as_possible = true;
  std::optional<int> moved_at;
  at_wait_ = [&](int waits) {
    if (!moved_at && cluster_.submitted > 0 && !cluster_.moving()) moved_at = waits;
    if (moved_at && waits == *moved_at + 10) cluster_.up.insert(2);
  };
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_THAT(cluster_.partitions.at({"wide", 0}).list, ElementsAre(3, 2, 1));
}

TEST_F(KafkaRebalance, ATopicWhosePartitionsHaveDifferentReplicasKeepsThem) {
  cluster_.add("uneven", 0, {1, 2, 3}, 10);
  cluster_.add("uneven", 1, {4, 2}, 10);
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(cluster_.partitions.at({"uneven", 0}).list.size(), 3u);
  EXPECT_EQ(cluster_.partitions.at({"uneven", 1}).list.size(), 2u);
}

TEST_F(KafkaRebalance, AMoveUnderWayOntoADrainedBrokerIsTurnedRound) {
  cluster_.partitions.at({"t", 0}).wish = {4, 1};
  ASSERT_TRUE(run().has_value());
  EXPECT_FALSE(cluster_.holds(4));
}

TEST_F(KafkaRebalance, AStalledMoveIsCancelledAndTheStateIsAsBefore) {
  cluster_.stuck = {{"t", 3}};
  const auto before = cluster_.partitions.at({"t", 3}).list;
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::partial);
  EXPECT_THAT(
      outcome.error().text(),
      HasSubstr("nothing moved for 2m00s: 1 of 8 moves wait, the first for partition 3 of topic 't'"));
  EXPECT_THAT(outcome.error().text(),
              HasSubstr("what was under way is cancelled, no throttle and no cordon is left"));
  EXPECT_EQ(cluster_.partitions.at({"t", 3}).list, before);
  EXPECT_FALSE(cluster_.moving());
  EXPECT_EQ(cluster_.throttles(), 0u);
  EXPECT_FALSE(cluster_.cordoned(4));
}

TEST_F(KafkaRebalance, StopsOnRequestAndCleansUp) {
  at_wait_ = [&](int waits) { stop_ = waits >= 2; };
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(outcome.error().text(), HasSubstr("stopped on request"));
  EXPECT_FALSE(cluster_.moving());
  EXPECT_EQ(cluster_.throttles(), 0u);
  EXPECT_FALSE(cluster_.cordoned(4));
  // And the next call goes on.
  stop_ = false;
  at_wait_ = nullptr;
  ASSERT_TRUE(run().has_value());
  EXPECT_FALSE(cluster_.holds(4));
}

TEST_F(KafkaRebalance, ARefusedMoveIsKafkasWordsAndNothingIsLeft) {
  cluster_.refuse_with = 39;
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::partial);
  EXPECT_THAT(outcome.error().text(), HasSubstr("INVALID_REPLICA_ASSIGNMENT"));
  EXPECT_EQ(cluster_.throttles(), 0u);
}

TEST_F(KafkaRebalance, ABrokerThatIsDownIsDrainedAndUnregistered) {
  cluster_.up = {1, 2, 3};
  for (auto& [key, partition] : cluster_.partitions) {
    if (partition.leader == 4) partition.leader = partition.list[1];
  }
  options_.unregister = false;
  ASSERT_TRUE(run().has_value());
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_THAT(cluster_.unregistered, IsEmpty());
  options_.unregister = true;
  ASSERT_TRUE(run().has_value());
  EXPECT_THAT(cluster_.unregistered, ElementsAre(4));
}

TEST_F(KafkaRebalance, ABrokerThatDiesWithItsThrottleIsNamed) {
  at_wait_ = [&](int waits) {
    if (waits == 2) cluster_.up.erase(3);
  };
  cluster_.stuck = {{"t", 3}};
  const auto outcome = run();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(outcome.error().text(), HasSubstr("broker 3 is no longer up and may keep its throttle"));
  EXPECT_THAT(outcome.error().text(), Not(HasSubstr("no throttle and no cordon is left")));
}

TEST_F(KafkaRebalance, NewBrokersAreFilledAndLoseTheirCordon) {
  cluster_.up = {1, 2, 3, 4, 5};
  cluster_.broker_settings[5]["cordoned.log.dirs"] = "*";
  options_.drain = {};
  ASSERT_TRUE(run().has_value());
  EXPECT_TRUE(cluster_.holds(5));
  EXPECT_FALSE(cluster_.cordoned(5));
}

TEST_F(KafkaRebalance, RefusesBeforeAnythingIsChanged) {
  const auto refused = [&] {
    const auto outcome = run();
    EXPECT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ErrorCode::usage);
    EXPECT_EQ(cluster_.submitted, 0);
    EXPECT_FALSE(cluster_.cordoned(4));
    return outcome.error().text();
  };
  options_.keep = {1, 9};
  EXPECT_THAT(refused(), HasSubstr("broker 9 is to be kept and is not up; up are 1, 2, 3, 4"));
  options_.keep = {1, 4};
  EXPECT_THAT(refused(), HasSubstr("broker 4 is both to keep and to drain"));
  options_.keep = {};
  options_.drain = {1, 2, 3, 4};
  EXPECT_THAT(refused(), HasSubstr("no broker would be kept"));
  options_.drain = {2, 3, 4};
  EXPECT_THAT(refused(), HasSubstr("has 2 replicas of partition"));
}

TEST_F(KafkaRebalance, SaysWhatStandsAgainstItAndChangesNothing) {
  const auto objects = [&] {
    return objection({cluster_, clock_, notes_, [](Duration) { return true; }}, options_).value();
  };
  EXPECT_EQ(objects(), "");
  options_.drain = {2, 3, 4};
  EXPECT_THAT(objects(),
              HasSubstr("topic '__consumer_offsets' has 2 replicas of partition 0, but without broker "
                        "2, 3, 4 only 1 broker is kept (1)"));
  options_.keep = {1, 9};
  EXPECT_THAT(objects(), HasSubstr("broker 9 is to be kept and is not up"));
  EXPECT_EQ(cluster_.submitted, 0);
  for (const int id : {1, 2, 3, 4}) EXPECT_FALSE(cluster_.cordoned(id)) << id;
}

// A shrink in the second after a broker was killed is no reason to refuse it.
TEST_F(KafkaRebalance, ABrokerThatIsJustStartingAgainIsNoObjection) {
  cluster_.up = {1, 3, 4};
  options_.keep = {1, 2, 3};
  const auto wait = [&](Duration duration) {
    clock_.advance(duration);
    cluster_.up.insert(2);
    return true;
  };
  EXPECT_EQ(objection({cluster_, clock_, notes_, wait}, options_).value(), "");
}

TEST_F(KafkaRebalance, ASilentClusterIsUnavailable) {
  cluster_.silent = true;
  EXPECT_EQ(objection({cluster_, clock_, notes_,
                       [this](Duration time) {
                         clock_.advance(time);
                         return true;
                       }},
                      options_)
                .error()
                .code,
            ErrorCode::unavailable);
  EXPECT_EQ(run().error().code, ErrorCode::unavailable);
}

TEST_F(KafkaRebalance, ThrottlesAreSetForTheMovingReplicasAndAtTheRateAskedFor) {
  options_.throttling = Throttling::fixed;
  options_.rate = 1234;
  std::string leaders;
  std::map<std::string, std::string> settings, broker;
  at_wait_ = [&](int) {
    if (cluster_.submitted == 0 || !leaders.empty()) return;
    settings = cluster_.topic_settings["t"];
    broker = cluster_.broker_settings[1];
    leaders = settings["leader.replication.throttled.replicas"];
  };
  ASSERT_TRUE(run().has_value());
  EXPECT_THAT(leaders, HasSubstr("3:4,3:1"));
  EXPECT_EQ(broker["replica.alter.log.dirs.io.max.bytes.per.second"], "1234");
  // Followers throttle themselves in sync too, and then producers wait.
  EXPECT_EQ(settings.count("follower.replication.throttled.replicas"), 0u);
  EXPECT_EQ(broker.count("follower.replication.throttled.rate"), 0u);
}

// Three that send to one share what it may receive.
TEST_F(KafkaRebalance, ARateHoldsForTheOneThatReceivesToo) {
  cluster_ = {};
  cluster_.up = {1, 2, 3, 4};
  for (int i = 0; i < 12; ++i) cluster_.add("t", i, {i % 3 + 1, (i + 1) % 3 + 1}, 100000);
  options_.drain = {};
  options_.throttling = Throttling::fixed;
  options_.rate = 3000;
  std::string rate;
  at_wait_ = [&](int) {
    if (cluster_.submitted > 0 && rate.empty())
      rate = cluster_.broker_settings[1]["leader.replication.throttled.rate"];
  };
  pace_ = 20000;
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(rate, "1000");
}

// What producers write goes to the followers of moving partitions, and counts: with a rate below it nothing
// would ever move.
TEST_F(KafkaRebalance, WhatProducersWriteIsNotTakenFromTheMoves) {
  constexpr double written = 50000;  // bytes/s, to partition 3 of 't' on 4 and 1
  options_.throttling = Throttling::fixed;
  options_.rate = 4000;
  double rate = 0;
  at_wait_ = [&](int waits) {
    if (waits == 1)
      cluster_.partitions.at({"t", 3}).bytes += static_cast<std::int64_t>(written);  // in a second
    if (cluster_.submitted > 0 && rate == 0)
      rate = std::stod(cluster_.broker_settings[4]["leader.replication.throttled.rate"]);
  };
  pace_ = 30000;
  ASSERT_TRUE(run().has_value());
  EXPECT_GE(rate, 2 * written) << "it goes to the follower of now and to the new one";
  EXPECT_LE(rate, 2 * 1.2 * written + 4000);
}

TEST_F(KafkaRebalance, MovesAndElectionsAreAskedForAFewAtATime) {
  int before = 0, most = 0;
  at_wait_ = [&](int) {
    most = std::max(most, cluster_.submitted - before);
    before = cluster_.submitted;
  };
  ASSERT_TRUE(run().has_value());
  EXPECT_GT(cluster_.submitted, 6);
  EXPECT_LE(most, 2) << "with four brokers";
  EXPECT_LE(cluster_.elected_at_once, 2u);
  for (const auto& [key, partition] : cluster_.partitions) EXPECT_EQ(partition.leader, partition.list[0]);
}

TEST_F(KafkaRebalance, AFinishedMoveIsNoLongerThrottledWhileOthersGoOn) {
  auto& large = cluster_.partitions.at({"t", 3});
  large.bytes = 30000;  // takes much longer than the others
  std::string late;
  at_wait_ = [&](int) {
    if (!large.wish.empty()) late = cluster_.topic_settings["t"]["leader.replication.throttled.replicas"];
  };
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(late, "3:4,3:1");
}

// Somebody writes much to partition 0 of 't', which does not move.
class BesideProducers : public KafkaRebalance {
 protected:
  BesideProducers() {
    at_wait_ = [this](int) {
      cluster_.partitions.at({"t", 0}).bytes += 200000;
      most_asked_ = std::max(most_asked_, cluster_.submitted - asked_);
      asked_ = cluster_.submitted;
      std::map<int, int> moving;
      for (const auto& [key, partition] : cluster_.partitions)
        if (!partition.wish.empty())
          most_of_a_leader_ = std::max(most_of_a_leader_, ++moving[partition.leader]);
    };
  }

  int asked_ = 0, most_asked_ = 0;  // between two waits
  int most_of_a_leader_ = 0;        // under way
};

TEST_F(BesideProducers, ChangesAreAskedForOneAtATimeAndMovesOfALeaderGoOneAfterTheOther) {
  ASSERT_TRUE(run().has_value());
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_EQ(most_asked_, 1);
  EXPECT_EQ(most_of_a_leader_, 1) << "of four";
  EXPECT_LE(cluster_.elected_at_once, 1u);
}

TEST_F(BesideProducers, AMoveThatIsStuckHoldsUpNothingBehindIt) {
  cluster_.stuck = {{"t", 3}};
  ASSERT_FALSE(run().has_value());
  for (const int behind : {7, 11}) EXPECT_NE(cluster_.partitions.at({"t", behind}).list[0], 4) << behind;
}

TEST_F(BesideProducers, WhoGoesInAnyCaseIsInAHurry) {
  options_.as_far_as_possible = true;
  ASSERT_TRUE(run().has_value());
  EXPECT_GT(most_asked_, 1);
  EXPECT_GT(most_of_a_leader_, 1);
}

TEST_F(BesideProducers, AMoveThatWasTakenWithoutAnAnswerIsNotAskedForAgain) {
  cluster_.unanswered = 1;
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(cluster_.holds(4));
  EXPECT_EQ(static_cast<std::size_t>(cluster_.submitted), outcome.value().progress.moves);
}

TEST_F(KafkaRebalance, WithoutAThrottleNoneIsSet) {
  options_.throttling = Throttling::none;
  cluster_.partitions.at({"t", 3}).wish = {2, 1};
  cluster_.broker_settings[2]["leader.replication.throttled.rate"] = "1";  // a killed predecessor's
  at_wait_ = [&](int) { EXPECT_EQ(cluster_.throttles(), 0u); };
  const auto outcome = run();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome.value().released, 1);
}

TEST(KafkaRatePolicy, RisesWhileTheClusterBearsItAndFallsWhenItSuffers) {
  using std::chrono::milliseconds;
  RatePolicy policy(milliseconds(2), 0);
  const auto start = policy.rate();
  const auto used = static_cast<double>(start);
  EXPECT_EQ(policy.next({milliseconds(3), false, used}), 2 * start);
  EXPECT_EQ(policy.next({milliseconds(3), false, used / 2}), 2 * start) << "something else limits";
  EXPECT_EQ(policy.next({milliseconds(27), false, used}), start) << "slow answers";
  EXPECT_EQ(policy.next({milliseconds(2), true, used}), start / 2) << "others fell behind";
  for (int i = 0; i < 20; ++i) policy.next({milliseconds(99), true, used});
  EXPECT_EQ(policy.rate(), 2u << 20);
  for (int i = 0; i < 20; ++i) policy.next({milliseconds(1), false, 1e12});
  EXPECT_EQ(policy.rate(), 1u << 30);
}

TEST(KafkaRatePolicy, ProducersComeFirst) {
  using std::chrono::milliseconds;
  RatePolicy policy(milliseconds(2), 1e6);
  const auto start = policy.rate();
  EXPECT_LT(start, RatePolicy(milliseconds(2), 0).rate());
  EXPECT_EQ(policy.next({milliseconds(2), false, 1e9, 0.9e6}), 2 * start);
  EXPECT_EQ(policy.next({milliseconds(2), false, 1e9, 0.8e6}), start) << "they write less than before";
  // At the lowest rate the move is not the cause any more.
  for (int i = 0; i < 10; ++i) policy.next({milliseconds(2), false, 1e9, 0.1e6});
  EXPECT_GT(policy.next({milliseconds(2), false, 1e9, 0.1e6}), 2u << 20);
}

}  // namespace
}  // namespace pilot::adaptors::kafka::rebalance
