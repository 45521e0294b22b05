// For the tests of HeadCore when nodes come and go: a third node beside the two of HeadHarness.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/agent/head_harness.hpp"

namespace pilot::agent::test {

class HeadResizeFixture : public testing::Test, protected HeadHarness {
 protected:
  // A third node's worker beside those of plan(); data move when `move`.
  static model::ClusterPlan grown(bool move = true) {
    auto plan = test::plan();
    plan.services.push_back(service("fake/worker-3", "node-3", 1, 101));
    plan.nodes.push_back("node-3");
    plan.resize.emplace();
    if (move) plan.resize->move.emplace().argv = {"mover", "--keep", "1,2,3"};
    return plan;
  }
  static model::ClusterPlan drained() {
    auto plan = grown(false);
    plan.resize->draining = {"node-3"};
    plan.resize->move.emplace().argv = {"mover", "--drain", "3"};
    plan.resize->retire["node-3"].argv = {"forget", "3"};
    return plan;
  }

  void enroll_third(int agent = 1) {
    auto info = node("node-3", agent);
    info.allocation = "a1";
    info.rank = 0;
    receive("node-3", model::RegisterNode{info, {}, {}, {}});
  }

  // Asked for, admitted, submitted.
  void request_extension() {
    receive("client", model::ExtendPilot{1, std::nullopt, true, false, {}});
    const auto admit = effects<AdmitNodes>();
    ASSERT_THAT(admit, testing::SizeIs(1));
    EXPECT_EQ(admit[0].first_node, 3);
    take(core_->admitted(ok()));
    const auto planned = sent<model::ExtensionPlanned>("client");
    ASSERT_THAT(planned, testing::SizeIs(1));
    EXPECT_EQ(planned[0], (model::ExtensionPlanned{"a1", 3}));
    receive("client", model::ExtensionSubmitted{"a1", "job-8"});
  }

  void extend() {
    boot();
    request_extension();
    enroll_third();
    ASSERT_THAT(effects<PlanCluster>(), testing::SizeIs(1));
    take(core_->planned("fake", grown()));
    report("node-3", "fake/worker-3", ServicePhase::ready);
    ASSERT_THAT(effects<ProbeCluster>(), testing::SizeIs(1));
    take(core_->probed("fake", ok()));
    ASSERT_THAT(effects<WriteClientFiles>(), testing::SizeIs(1));
    take(core_->client_files_written("fake", ok()));
    ASSERT_THAT(effects<MoveData>(), testing::SizeIs(1));
    take(core_->moved("fake", ok()));
    messages_.clear(), effects_.clear();
  }

  // Of a plan that was asked for.
  void bring_to_moving(const model::ClusterPlan& plan) {
    take(core_->planned("fake", plan));
    if (plan.resize->draining.empty()) report("node-3", "fake/worker-3", ServicePhase::ready);
    take(core_->probed("fake", ok()));
    take(core_->client_files_written("fake", ok()));
    ASSERT_THAT(effects<MoveData>(), testing::SizeIs(1));
    effects_.clear();
  }

  void lose_second_while_third_is_drained() {
    extend();
    receive("client", model::ShrinkPilot{{"node-3"}, 0, {}});
    effects<PlanCluster>();
    bring_to_moving(drained());
    pass(2min + 10s, {"node-1", "node-3"});
    ASSERT_THAT(effects<StopMoving>(), testing::SizeIs(1));
    messages_.clear();
  }

  void expect_third_is_rebuilt_elsewhere() {
    const auto plans = effects<PlanCluster>();
    ASSERT_THAT(plans, testing::SizeIs(1));
    EXPECT_TRUE(plans[0].as_far_as_possible) << "it is gone";
    ASSERT_NO_FATAL_FAILURE(bring_to_moving(drained()));
    take(core_->moved("fake", ok()));
    take(core_->retired("fake", "node-3", ok()));
    EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::released);
    EXPECT_THAT(effects<GiveBack>(), testing::SizeIs(1));
  }

  const model::ClusterState& cluster() { return core_->state().clusters.at("fake"); }
};

}  // namespace pilot::agent::test
