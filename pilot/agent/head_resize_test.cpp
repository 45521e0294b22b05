// The head's decisions when nodes come and go.
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

class HeadResizeTest : public HeadResizeFixture {};

TEST_F(HeadResizeTest, new_nodes_get_services_then_data_move) {
  boot();
  request_extension();
  EXPECT_EQ(core_->state().allocations.at("a1").job_id, "job-8");
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty()) << "no node has come yet";
  enroll_third();
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_THAT(plans[0].nodes, SizeIs(3));
  ASSERT_TRUE(plans[0].current.has_value());
  EXPECT_THAT(plans[0].current->services, SizeIs(3));
  EXPECT_THAT(plans[0].nodes[0].free_ports, ElementsAre(103)) << "two are in use";
  take(core_->planned("fake", grown()));
  EXPECT_THAT(started("node-3"), ElementsAre("fake/worker-3"));
  EXPECT_THAT(started("node-1"), IsEmpty()) << "what runs is left alone";
  EXPECT_EQ(phase(), PilotPhase::ready) << "a service that arrives is no trouble";
  report("node-3", "fake/worker-3", ServicePhase::ready);
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  const auto moves = effects<MoveData>();
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_THAT(moves[0].command.argv, ElementsAre("mover", "--keep", "1,2,3"));
  EXPECT_TRUE(cluster().moving);
  take(core_->progressed("move fake", "half of it"));
  EXPECT_TRUE(noted("half of it"));
  take(core_->moved("fake", ok()));
  EXPECT_FALSE(cluster().moving);
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());
  EXPECT_THAT(effects<MoveData>(), IsEmpty());
}

TEST_F(HeadResizeTest, a_restarted_head_goes_on_where_the_log_ends) {
  boot();
  request_extension();
  enroll_third();
  take(core_->planned("fake", grown()));
  report("node-3", "fake/worker-3", ServicePhase::ready);
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  effects<MoveData>();
  restart();
  enroll("node-1",
         {change("fake/controller", ServicePhase::ready), change("fake/worker-1", ServicePhase::ready)});
  EXPECT_THAT(effects<MoveData>(), SizeIs(1)) << "nobody knows how far the one before came";
  EXPECT_EQ(core_->state().allocations.at("a1").first_node, 3);
}

TEST_F(HeadResizeTest, an_extension_waits_for_all_of_its_nodes) {
  boot();
  receive("client", model::ExtendPilot{2, std::nullopt, true});
  take(core_->admitted(ok()));
  receive("client", model::ExtensionSubmitted{"a1", "job-8"});
  enroll_third();
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());
  receive("client", model::ExtendPilot{1, std::nullopt, true});
  EXPECT_EQ(effects<AdmitNodes>().back().first_node, 5) << "ids are never used again";
}

TEST_F(HeadResizeTest, an_extension_of_which_one_node_never_comes_can_be_given_back) {
  boot();
  receive("client", model::ExtendPilot{2, std::nullopt, true});
  take(core_->admitted(ok()));
  receive("client", model::ExtensionSubmitted{"a1", "job-8"});
  enroll_third();
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  EXPECT_THAT(effects<CheckRelease>(), IsEmpty()) << "the job is not made smaller, it ends";
  take(core_->move_checked("fake", std::string()));
  EXPECT_THAT(sent<model::ReleaseNode>("node-3"), SizeIs(1));
  receive("node-3", model::NodeReleased{"node-3", {}});
  const auto given_back = effects<GiveBack>();
  ASSERT_THAT(given_back, SizeIs(1));
  EXPECT_EQ(given_back[0].allocation, "a1");
}

TEST_F(HeadResizeTest, what_the_batch_system_refused_is_over) {
  boot();
  receive("client", model::ExtendPilot{1, std::nullopt, true});
  take(core_->admitted(ok()));
  receive("client", model::ExtensionRefused{"a1", "invalid partition"});
  EXPECT_EQ(core_->state().allocations.at("a1").phase, model::AllocationPhase::ended);
  EXPECT_EQ(phase(), PilotPhase::ready);
  receive("client", model::ExtendPilot{0, std::nullopt, true});
  EXPECT_THAT(sent<model::Refused>("client").back().error.message, HasSubstr("0 nodes"));
}

TEST_F(HeadResizeTest, a_new_service_that_fails_leaves_the_rest_as_it_was) {
  boot();
  request_extension();
  enroll_third();
  take(core_->planned("fake", grown()));
  report("node-3", "fake/worker-3", ServicePhase::failed, "exit code 3");
  EXPECT_FALSE(cluster().changing);
  EXPECT_THAT(cluster().change_failure, HasSubstr("fake/worker-3: exit code 3"));
  EXPECT_THAT(effects<MoveData>(), IsEmpty());
  EXPECT_EQ(phase(), PilotPhase::degraded);
}

TEST_F(HeadResizeTest, a_plan_that_does_not_fit_is_not_asked_for_again) {
  boot();
  request_extension();
  enroll_third();
  effects<PlanCluster>();
  take(core_->planned("fake", make_error(ErrorCode::usage, "node-3 is too small")));
  EXPECT_THAT(cluster().change_failure, HasSubstr("too small"));
  take(core_->tick());
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadResizeTest, a_node_is_given_back_after_its_data_have_moved) {
  extend();
  receive("client", model::ShrinkPilot{{}, 1});
  EXPECT_THAT(sent<model::ShrinkPlanned>("client").back().nodes, ElementsAre("node-3"));
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_THAT(plans[0].draining, ElementsAre("node-3"));
  take(core_->planned("fake", drained()));
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  ASSERT_THAT(effects<MoveData>(), SizeIs(1));
  EXPECT_THAT(stopped("node-3"), IsEmpty()) << "its data are there";
  EXPECT_THAT(sent<model::ReleaseNode>("node-3"), IsEmpty());
  take(core_->moved("fake", ok()));
  EXPECT_THAT(stopped("node-3"), ElementsAre("fake/worker-3"));
  EXPECT_THAT(effects<RetireNode>(), IsEmpty()) << "it runs";
  report("node-3", "fake/worker-3", ServicePhase::stopped);
  ASSERT_THAT(effects<RetireNode>(), SizeIs(1));
  EXPECT_THAT(sent<model::ReleaseNode>("node-3"), IsEmpty());
  take(core_->retired("fake", "node-3", ok()));
  EXPECT_THAT(sent<model::ReleaseNode>("node-3"), SizeIs(1));
  EXPECT_EQ(phase(), PilotPhase::ready);
  receive("node-3", model::NodeReleased{"node-3", {}});
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::released);
  const auto smaller = effects<PlanCluster>();
  ASSERT_THAT(smaller, SizeIs(1));
  EXPECT_THAT(smaller[0].nodes, SizeIs(2));
  EXPECT_THAT(effects<GiveBack>(), SizeIs(1));
  take(core_->given_back("a1", ok()));
  EXPECT_EQ(core_->state().allocations.at("a1").phase, model::AllocationPhase::ended);
  take(core_->planned("fake", plan()));
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  EXPECT_FALSE(cluster().services.contains("fake/worker-3"));
  EXPECT_EQ(phase(), PilotPhase::ready);
  pass(30s, {"node-1", "node-2"});
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadResizeTest, a_node_whose_data_cannot_move_stays) {
  extend();
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  take(core_->planned("fake", drained()));
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  take(core_->moved("fake", make_error(ErrorCode::partial, "3 replicas on 2 brokers")));
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  EXPECT_THAT(core_->state().nodes.at("node-3").reason, HasSubstr("3 replicas on 2 brokers"));
  EXPECT_THAT(stopped("node-3"), IsEmpty());
  const auto plans = effects<PlanCluster>();
  ASSERT_FALSE(plans.empty());
  EXPECT_THAT(plans.back().draining, IsEmpty());
  take(core_->planned("fake", [] {
    auto as_before = grown(false);
    as_before.resize.reset();
    return as_before;
  }()));
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  EXPECT_THAT(effects<MoveData>(), SizeIs(1)) << "only the one that failed";
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadResizeTest, an_extension_is_given_back_before_its_time_is_over) {
  boot();
  receive("client", model::ExtendPilot{1, 20min, true});
  effects<AdmitNodes>();
  take(core_->admitted(ok()));
  receive("client", model::ExtensionSubmitted{"a1", "job-8"});
  enroll_third();
  take(core_->planned("fake", grown(false)));
  report("node-3", "fake/worker-3", ServicePhase::ready);
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  effects<PlanCluster>();
  pass(17min, {"node-1", "node-2", "node-3"});
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  pass(61s, {"node-1", "node-2", "node-3"});
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining) << "a tenth of 20 minutes before";
  EXPECT_THAT(core_->state().nodes.at("node-3").reason, HasSubstr("the time of a1 is over in"));
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_TRUE(plans[0].as_far_as_possible);
  // What could not be done then is tried again: it may have been a broker that was just starting again.
  take(core_->planned("fake", make_error(ErrorCode::failed, "no room in the home")));
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  effects<PlanCluster>();
  pass(61s, {"node-1", "node-2", "node-3"});
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
  EXPECT_THAT(effects<PlanCluster>(), SizeIs(1));
}

TEST_F(HeadResizeTest, a_draining_node_stays_so_when_its_agent_is_started_again) {
  extend();
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  enroll_third(2);
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
}

// Its agent ends its services by its own clock, moved or not.
TEST_F(HeadResizeTest, a_node_that_leaves_before_its_data_have_moved_is_rebuilt_elsewhere) {
  extend();
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  effects<PlanCluster>();
  report("node-3", "fake/worker-3", ServicePhase::stopped);
  receive("node-3", model::NodeReleased{"node-3", {}});
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::lost);
  take(core_->planned("fake", drained()));
  take(core_->client_files_written("fake", ok()));
  ASSERT_THAT(effects<MoveData>(), SizeIs(1));
  take(core_->moved("fake", ok()));
  take(core_->retired("fake", "node-3", ok()));
  EXPECT_EQ(core_->state().nodes.at("node-3").phase, NodePhase::released);
}

TEST_F(HeadResizeTest, data_that_are_not_well_make_the_pilot_degraded) {
  enroll("node-1");
  enroll("node-2");
  auto checked = plan();
  checked.health.emplace().argv = {"look"};
  take(core_->planned("fake", checked));
  report("node-1", "fake/controller", ServicePhase::ready);
  report("node-1", "fake/worker-1", ServicePhase::ready);
  report("node-2", "fake/worker-2", ServicePhase::ready);
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  take(core_->tick());
  ASSERT_THAT(effects<CheckCluster>(), SizeIs(1));
  take(core_->checked("fake", DataReport{"1 of 2 partitions", {}}));
  EXPECT_EQ(phase(), PilotPhase::ready) << "it may pass";
  pass(2s, {"node-1", "node-2"});
  ASSERT_THAT(effects<CheckCluster>(), SizeIs(1));
  take(core_->checked("fake", DataReport{"1 of 2 partitions", {}}));
  EXPECT_EQ(phase(), PilotPhase::degraded);
  EXPECT_EQ(core_->state().reason, "fake: 1 of 2 partitions");
  pass(4s, {"node-1", "node-2"});
  EXPECT_THAT(effects<CheckCluster>(), IsEmpty());
  pass(2s, {"node-1", "node-2"});
  ASSERT_THAT(effects<CheckCluster>(), SizeIs(1));
  take(core_->checked("fake", DataReport{}));
  EXPECT_EQ(phase(), PilotPhase::ready);
}

}  // namespace
}  // namespace pilot::agent
