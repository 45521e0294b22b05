#include "pilot/model/pilot_state.hpp"

#include <gtest/gtest.h>

namespace pilot::model {
namespace {

ProcessIdentity process(pid_t pid) {
  return {pid, static_cast<std::uint64_t>(pid) * 10, "boot"};
}

class PilotStateTest : public ::testing::Test {
 protected:
  void happens(EventBody body) {
    ++sequence_;
    apply(state_, Event{sequence_, WallTime{std::chrono::seconds(sequence_)}, std::move(body)});
  }

  void plan_broker() {
    ClusterPlan plan;
    plan.framework = "kafka";
    plan.services.push_back({.id = "kafka/broker-1", .role = "broker", .node = "node-1"});
    happens(ClusterPlanned{plan});
  }

  PilotState state_;
  std::uint64_t sequence_ = 0;
};

TEST_F(PilotStateTest, FollowsAPilotFromSubmissionToReady) {
  PilotCreated created;
  created.id = "abc";
  created.spec.name = "demo";
  happens(created);
  happens(AllocationSubmitted{"a0", "local-1", 1});
  EXPECT_EQ(state_.allocations.at("a0").phase, AllocationPhase::pending);
  NodeInfo node;
  node.id = "node-1";
  node.allocation = "a0";
  node.agent = process(7);
  happens(NodeRegistered{node});
  EXPECT_EQ(state_.allocations.at("a0").phase, AllocationPhase::running);
  plan_broker();
  happens(ServiceChanged{"kafka/broker-1", ServicePhase::ready, process(8), 0, {}, {}});
  happens(PilotPhaseChanged{PilotPhase::ready, {}});
  EXPECT_EQ(state_.spec.name, "demo");
  EXPECT_EQ(state_.phase, PilotPhase::ready);
  EXPECT_EQ(state_.last_sequence, 6u);
  EXPECT_EQ(state_.processes, (std::vector{process(7), process(8)}));
}

TEST_F(PilotStateTest, CountsRestartsAndForgetsTheDeadProcess) {
  plan_broker();
  happens(ServiceChanged{"kafka/broker-1", ServicePhase::ready, process(8), 0, {}, {}});
  happens(ServiceChanged{"kafka/broker-1", ServicePhase::waiting, {}, 1, "killed by signal 9", {}});
  EXPECT_TRUE(state_.processes.empty());
  happens(ServiceChanged{"kafka/broker-1", ServicePhase::starting, process(9), 1, {}, {}});
  happens(ServiceChanged{"kafka/broker-1", ServicePhase::ready, process(9), 0, {}, {}});
  EXPECT_EQ(state_.service_state("kafka/broker-1")->total_restarts, 1);
  EXPECT_EQ(state_.processes, std::vector{process(9)});
  happens(ServiceChanged{"kafka/broker-1", ServicePhase::stopped, process(9), 0, {}, {}});
  EXPECT_TRUE(state_.processes.empty());
}

TEST_F(PilotStateTest, KeepsTheProcessOfAServiceThatFailedWhileItMayStillRun) {
  plan_broker();
  happens(ServiceChanged{"kafka/broker-1", ServicePhase::failed, process(8), 0, "no answer", {}});
  EXPECT_EQ(state_.processes, std::vector{process(8)});
}

TEST_F(PilotStateTest, IgnoresEventsOfThingsThatWereNeverPlanned) {
  const PilotState before = state_;
  happens(ServiceChanged{"flink/taskmanager-1", ServicePhase::ready, process(8), 0, {}, {}});
  happens(NodeChanged{"node-9", NodePhase::lost, "no heartbeat"});
  happens(AllocationChanged{"a9", AllocationPhase::ended, {}});
  PilotState after = state_;
  after.last_sequence = before.last_sequence;
  EXPECT_EQ(after, before);
}

TEST_F(PilotStateTest, ARestartedHeadReplacesTheOldOne) {
  happens(HeadStarted{process(5), "here", "tcp://127.0.0.1:1", 1, {}});
  happens(HeadStarted{process(6), "here", "tcp://127.0.0.1:1", 2, {}});
  EXPECT_EQ(state_.processes, std::vector{process(6)});
  EXPECT_EQ(state_.head->start, 2);
}

TEST_F(PilotStateTest, AChangeThatFailedSaysNothingOfNodesThatItWasNotFor) {
  const auto comes = [&](const std::string& id) {
    NodeInfo node;
    node.id = id;
    happens(NodeRegistered{node});
  };
  const auto change = [&](const std::vector<std::string>& nodes) {
    ClusterPlan plan;
    plan.framework = "kafka";
    plan.nodes = nodes;
    plan.resize.emplace();
    happens(ClusterPlanned{plan});
  };
  comes("node-1");
  change({"node-1"});
  happens(ClusterReady{"kafka"});
  happens(DataMoved{"kafka", "no room"});
  const auto& cluster = state_.clusters.at("kafka");
  EXPECT_TRUE(cluster.failed_with({"node-1"}));
  comes("node-2");
  EXPECT_FALSE(cluster.failed_with({"node-2"}));
  EXPECT_TRUE(cluster.failed_with({"node-1"}));
  happens(DataMoved{"kafka", "no plan for both"});
  EXPECT_TRUE(cluster.failed_with({"node-2"}));
  comes("node-2");
  EXPECT_TRUE(cluster.failed_with({"node-2"})) << "its agent was started again, no more";
  change({"node-1", "node-2"});
  EXPECT_FALSE(cluster.failed_with({"node-2"}));
  comes("node-3");
  happens(DataMoved{"kafka", "no room"});
  EXPECT_TRUE(cluster.failed_with({"node-2"}));
  EXPECT_FALSE(cluster.failed_with({"node-3"})) << "it came while that went on";
}

}  // namespace
}  // namespace pilot::model
