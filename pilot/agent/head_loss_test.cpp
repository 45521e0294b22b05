// The head's decisions when nodes are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/agent/head_resize_fixture.hpp"

namespace pilot::agent {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HeadLossTest : public HeadResizeFixture {};

TEST_F(HeadLossTest, a_node_that_is_lost_for_long_is_done_without) {
  extend();
  pass(2min, {"node-1", "node-2"});
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::lost);
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining) << "it may come back";
  effects<PlanCluster>();
  pass(10s, {"node-1", "node-2"});
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
  ASSERT_NO_FATAL_FAILURE(expect_third_is_rebuilt_elsewhere());
  take(core_->tick());
  const auto smaller = effects<PlanCluster>();
  ASSERT_THAT(smaller, SizeIs(1)) << "its services can't be waited for";
  EXPECT_THAT(smaller[0].nodes, SizeIs(2));
}

TEST_F(HeadLossTest, a_node_whose_job_takes_it_away_is_done_without_at_once) {
  extend();
  report("node-3", "fake/worker-3", ServicePhase::stopped);
  receive("node-3", model::NodeReleased{"node-3", {}});
  EXPECT_THAT(sent<model::Accepted>("node-3"), Not(IsEmpty()));
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::lost);
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
  take(core_->tick());
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty()) << "its job would end it again";
  ASSERT_NO_FATAL_FAILURE(expect_third_is_rebuilt_elsewhere());
}

TEST_F(HeadLossTest, a_pilot_that_stops_does_not_look_for_a_node_that_has_left_in_order) {
  extend();
  report("node-3", "fake/worker-3", ServicePhase::stopped);
  receive("node-3", model::NodeReleased{"node-3", {}});
  ASSERT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::lost) << "until its data are rebuilt";
  take(core_->receive("client", {"q", model::StopPilot{}}));
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::released);
}

TEST_F(HeadLossTest, what_such_a_node_left_is_looked_for) {
  extend();
  report("node-3", "fake/worker-3", ServicePhase::stopped);
  receive("node-3", model::NodeReleased{"node-3", {"process 5 (stuck)"}});
  take(core_->receive("client", {"q", model::StopPilot{}}));
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::lost);
}

TEST_F(HeadLossTest, services_of_a_lost_node_are_not_ready) {
  extend();
  pass(6s, {"node-1", "node-2"});
  EXPECT_EQ(cluster().services.at("fake/worker-3").phase, ServicePhase::lost);
  EXPECT_EQ(cluster().services.at("fake/worker-3").reason, "node-3 is lost");
  EXPECT_EQ(cluster().services.at("fake/worker-2").phase, ServicePhase::ready);
  EXPECT_EQ(phase(), PilotPhase::degraded);
  auto info = node("node-3");
  info.allocation = "a1";
  info.rank = 0;
  receive("node-3", model::RegisterNode{info, {change("fake/worker-3", ServicePhase::ready)}});
  EXPECT_EQ(cluster().services.at("fake/worker-3").phase, ServicePhase::ready);
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadLossTest, what_could_not_be_rebuilt_is_tried_again_after_twice_the_time) {
  extend();
  pass(2min + 10s, {"node-1", "node-2"});
  ASSERT_NO_FATAL_FAILURE(bring_to_moving(drained()));
  take(core_->moved("fake", make_error(ErrorCode::partial, "3 replicas on 2 brokers")));
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  take(core_->planned("fake", grown(false)));
  pass(3min, {"node-1", "node-2"});
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  pass(70s, {"node-1", "node-2"});
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
}

TEST_F(HeadLossTest, a_node_of_the_base_is_done_without_unless_it_is_bound) {
  boot();
  pass(2min + 10s, {"node-1"});
  EXPECT_TRUE(core_->state().nodes.at("node-2").draining);
}

// A controller can't leave its node, but what else was there is rebuilt.
TEST_F(HeadLossTest, a_bound_node_that_is_lost_is_emptied_and_taken_back) {
  extend();
  pass(2min + 10s, {"node-2", "node-3"});
  EXPECT_TRUE(core_->state().nodes.at("node-1").draining);
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_THAT(plans[0].draining, ElementsAre("node-1"));
  EXPECT_TRUE(plans[0].as_far_as_possible);
  auto emptied = grown(false);
  emptied.resize->draining = {"node-1"};
  emptied.resize->move.emplace().argv = {"mover", "--drain", "1"};
  emptied.resize->retire["node-1"].argv = {"forget", "1"};
  take(core_->planned("fake", emptied));
  take(core_->client_files_written("fake", ok()));
  ASSERT_THAT(effects<MoveData>(), SizeIs(1));
  take(core_->moved("fake", ok()));
  ASSERT_THAT(effects<RetireNode>(), SizeIs(1));
  take(core_->retired("fake", "node-1", ok()));
  pass(10min, {"node-2", "node-3"});
  EXPECT_EQ(core_->state().nodes.at("node-1").phase, NodePhase::lost) << "it is not released";
  EXPECT_EQ(phase(), PilotPhase::degraded);
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty()) << "that is how it stays";

  enroll("node-1", {}, 2);
  EXPECT_FALSE(core_->state().nodes.at("node-1").draining);
  EXPECT_EQ(sent<model::NodeAccepted>("node-1").back().services.size(), 2u) << "both are wanted again";
  const auto back = effects<PlanCluster>();
  ASSERT_THAT(back, SizeIs(1));
  EXPECT_THAT(back[0].draining, IsEmpty());
}

TEST_F(HeadLossTest, a_change_goes_on_without_a_node_that_is_lost_meanwhile) {
  boot();
  request_extension();
  enroll_third();
  take(core_->planned("fake", grown()));
  effects<PlanCluster>();
  pass(2min + 10s, {"node-1", "node-2"});  // node-3 never gets its worker ready
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_THAT(plans[0].draining, ElementsAre("node-3"));
  take(core_->planned("fake", drained()));
  ASSERT_THAT(effects<ProbeCluster>(), SizeIs(1));
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  take(core_->moved("fake", ok()));
  take(core_->retired("fake", "node-3", ok()));
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::released);
}

TEST_F(HeadLossTest, data_do_not_go_on_moving_onto_a_node_that_is_lost_for_good) {
  boot();
  request_extension();
  enroll_third();
  effects<PlanCluster>();
  bring_to_moving(grown());
  pass(2min, {"node-1", "node-2"});
  EXPECT_THAT(effects<StopMoving>(), IsEmpty()) << "it may come back";
  pass(20s, {"node-1", "node-2"});
  ASSERT_THAT(effects<StopMoving>(), SizeIs(1)) << "and once is enough";
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty()) << "it still moves";
  take(core_->moved("fake", make_error(ErrorCode::partial, "stopped on request")));
  EXPECT_THAT(cluster().change_failure, HasSubstr("node-3: lost for"));
  ASSERT_NO_FATAL_FAILURE(expect_third_is_rebuilt_elsewhere());
}

// To rebuild what a lost node held comes first, and goes as far as it can: no promise for the other one.
TEST_F(HeadLossTest, a_node_is_kept_when_another_one_is_lost_for_good_while_its_data_move) {
  ASSERT_NO_FATAL_FAILURE(lose_second_while_third_is_drained());
  take(core_->moved("fake", make_error(ErrorCode::partial, "stopped on request")));
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  EXPECT_THAT(core_->state().nodes.at("node-3").reason, HasSubstr("fake: node-2: lost for"));
  EXPECT_THAT(stopped("node-3"), IsEmpty());
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_THAT(plans[0].draining, ElementsAre("node-2"));
  EXPECT_TRUE(plans[0].as_far_as_possible);
}

TEST_F(HeadLossTest, a_move_that_ends_before_it_is_stopped_is_done) {
  ASSERT_NO_FATAL_FAILURE(lose_second_while_third_is_drained());
  take(core_->moved("fake", ok()));
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
  EXPECT_THAT(stopped("node-3"), ElementsAre("fake/worker-3"));
}

TEST_F(HeadLossTest, a_head_that_is_started_again_stops_the_move_as_well) {
  ASSERT_NO_FATAL_FAILURE(lose_second_while_third_is_drained());
  restart();
  auto info = node("node-3");
  info.allocation = "a1";
  enroll("node-1");
  receive("node-3", model::RegisterNode{info, {}});
  EXPECT_THAT(effects<MoveData>(), SizeIs(1)) << "where the one before ended";
  EXPECT_THAT(effects<StopMoving>(), IsEmpty());
  pass(2min + 10s, {"node-1", "node-3"});
  EXPECT_THAT(effects<StopMoving>(), SizeIs(1));
}

// Its time does not stop when another node is lost.
TEST_F(HeadLossTest, a_node_whose_time_ends_goes_on_leaving_when_another_one_is_lost) {
  boot();
  receive("client", model::ExtendPilot{1, 20min, true});
  take(core_->admitted(ok()));
  receive("client", model::ExtensionSubmitted{"a1", "job-8"});
  enroll_third();
  take(core_->planned("fake", grown(false)));
  report("node-3", "fake/worker-3", ServicePhase::ready);
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  pass(17min, {"node-1", "node-2", "node-3"});
  pass(61s, {"node-1", "node-3"});
  ASSERT_TRUE(core_->state().nodes.at("node-3").draining);
  effects_.clear();
  bring_to_moving(drained());
  pass(75s, {"node-1", "node-3"});
  ASSERT_THAT(effects<StopMoving>(), SizeIs(1));
  take(core_->moved("fake", make_error(ErrorCode::partial, "stopped on request")));
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_THAT(plans[0].draining, ElementsAre("node-2", "node-3"));
  take(core_->planned("fake", make_error(ErrorCode::failed, "3 replicas on 1 broker")));
  EXPECT_FALSE(core_->state().nodes.at("node-2").draining) << "both were planned for";
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
}

// Its data would be taken for moved when those of the plan before are.
TEST_F(HeadLossTest, no_data_move_by_a_plan_while_another_one_is_being_made) {
  boot();
  request_extension();
  enroll_third();
  take(core_->planned("fake", grown()));
  report("node-3", "fake/worker-3", ServicePhase::ready);
  ASSERT_THAT(effects<ProbeCluster>(), SizeIs(1));
  effects<PlanCluster>();
  pass(2min + 10s, {"node-1", "node-3"});
  ASSERT_THAT(effects<PlanCluster>(), SizeIs(1)) << "node-2 is done without";
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)}, 2);
  take(core_->probed("fake", ok()));
  EXPECT_THAT(effects<WriteClientFiles>(), IsEmpty());
  EXPECT_THAT(effects<ProbeCluster>(), IsEmpty()) << "nor is it asked for again and again";
  auto both = grown();
  both.resize->draining = {"node-2"};
  take(core_->planned("fake", both));
  ASSERT_THAT(effects<ProbeCluster>(), SizeIs(1)) << "anew";
  take(core_->client_files_written("fake", ok()));
  EXPECT_THAT(effects<MoveData>(), IsEmpty()) << "nobody asked for that yet";
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  EXPECT_THAT(effects<MoveData>(), SizeIs(1));
}

TEST_F(HeadLossTest, a_lost_node_is_planned_for_again_when_that_could_not_be_done) {
  extend();
  pass(2min + 10s, {"node-1", "node-2"});
  ASSERT_THAT(effects<PlanCluster>(), SizeIs(1));
  take(core_->planned("fake", make_error(ErrorCode::failed, "no room in the home")));
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  pass(4min + 10s, {"node-1", "node-2"});
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
  EXPECT_THAT(effects<PlanCluster>(), SizeIs(1));
}

// What is down for good elsewhere is no reason to keep a node's data on it until its time is over.
TEST_F(HeadLossTest, a_change_does_not_wait_for_what_is_lost_elsewhere) {
  extend();
  pass(6s, {"node-2", "node-3"});
  ASSERT_EQ(core_->state().nodes.at("node-1").phase, NodePhase::lost) << "with the bound controller";
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_FALSE(plans[0].as_far_as_possible) << "it was asked for, and may be refused";
  take(core_->planned("fake", drained()));
  EXPECT_THAT(effects<ProbeCluster>(), IsEmpty()) << "nothing has come that could be asked for";
  take(core_->client_files_written("fake", ok()));
  EXPECT_THAT(effects<MoveData>(), SizeIs(1));
}

TEST_F(HeadLossTest, a_node_that_was_done_without_and_comes_back_is_cleaned) {
  extend();
  pass(2min + 10s, {"node-1", "node-2"});
  ASSERT_NO_FATAL_FAILURE(bring_to_moving(drained()));
  take(core_->moved("fake", ok()));
  take(core_->retired("fake", "node-3", ok()));
  ASSERT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::released);
  enroll_third(2);
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::released) << "it is not taken in again";
  EXPECT_THAT(sent<model::ReleaseNode>("node-3"), SizeIs(1));
  EXPECT_THAT(started("node-3"), IsEmpty());
}

}  // namespace
}  // namespace pilot::agent
