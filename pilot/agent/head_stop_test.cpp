#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/agent/head_core.hpp"
#include "pilot/agent/head_harness.hpp"

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;
using model::NodePhase;
using model::PilotPhase;
using model::ServicePhase;
using test::plan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The ways down: stopping, and starts that failed.
class HeadStopTest : public testing::Test, protected test::HeadHarness {};

TEST_F(HeadStopTest, stops_by_descending_stage_releases_the_nodes_and_finishes) {
  boot();
  take(core_->receive("client", {"q", model::StopPilot{"the user said so"}}));
  EXPECT_TRUE(std::ranges::any_of(messages_, [](const Outgoing& outgoing) {
    return outgoing.peer == "client" && outgoing.message == model::Message{"q", model::Accepted{}};
  }));
  EXPECT_EQ(phase(), PilotPhase::stopping);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/worker-1"));
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2"));
  report("node-1", "fake/worker-1", ServicePhase::stopping);
  report("node-1", "fake/worker-1", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), IsEmpty()) << "the other worker has not stopped";
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  EXPECT_THAT(sent<model::ReleaseNode>("node-2"), IsEmpty());
  report("node-1", "fake/controller", ServicePhase::stopped);
  EXPECT_THAT(sent<model::ReleaseNode>("node-1"), SizeIs(1));
  EXPECT_THAT(sent<model::ReleaseNode>("node-2"), SizeIs(1));
  receive("node-2", model::NodeReleased{"node-2", {}});
  EXPECT_THAT(sent<model::Accepted>("node-2"), SizeIs(1));
  EXPECT_EQ(phase(), PilotPhase::stopping);
  receive("node-1", model::NodeReleased{"node-1", {"process 5 (stuck)"}});
  EXPECT_EQ(phase(), PilotPhase::stopped);
  EXPECT_EQ(core_->state().reason, "the user said so");
  EXPECT_TRUE(noted("node-1 left: process 5 (stuck)"));
  EXPECT_THAT(effects<Finish>(), SizeIs(1));
  EXPECT_TRUE(is_done(core_->state()));
}

TEST_F(HeadStopTest, restarted_in_the_middle_of_stopping_it_goes_on) {
  boot();
  take(core_->receive("client", {"q", model::StopPilot{}}));
  report("node-1", "fake/worker-1", ServicePhase::stopped);
  restart();
  enroll("node-1",
         {change("fake/controller", ServicePhase::ready), change("fake/worker-1", ServicePhase::stopped)});
  EXPECT_THAT(sent<model::NodeAccepted>("node-1").back().services, ElementsAre("fake/controller"));
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)});
  EXPECT_THAT(started("node-1"), IsEmpty());
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2"));
  EXPECT_THAT(stopped("node-1"), IsEmpty());
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  report("node-1", "fake/controller", ServicePhase::stopped);
  receive("node-1", model::NodeReleased{"node-1", {}});
  restart();
  enroll("node-2", {change("fake/worker-2", ServicePhase::stopped)});
  EXPECT_THAT(sent<model::ReleaseNode>("node-2"), SizeIs(1));
  receive("node-2", model::NodeReleased{"node-2", {}});
  EXPECT_EQ(phase(), PilotPhase::stopped);
  effects_.clear();
  restart();  // nothing is left to do
  EXPECT_EQ(phase(), PilotPhase::stopped);
  EXPECT_THAT(effects<Finish>(), SizeIs(1));
}

TEST_F(HeadStopTest, a_node_lost_while_stopping_is_called_back_and_then_given_up) {
  boot();
  pass(6s, {"node-1"});
  effects_.clear();
  take(core_->receive("client", {"q", model::StopPilot{}}));
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/worker-1"));
  report("node-1", "fake/worker-1", ServicePhase::stopped);
  pass(10s, {"node-1"});
  EXPECT_THAT(stopped("node-1"), IsEmpty()) << "worker-2 may still run";
  pass(11s, {"node-1"});
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  EXPECT_TRUE(noted("node-2 can't be reached"));
  report("node-1", "fake/controller", ServicePhase::stopped);
  receive("node-1", model::NodeReleased{"node-1", {}});
  EXPECT_EQ(phase(), PilotPhase::stopped);
  EXPECT_TRUE(is_done(core_->state()));
}

TEST_F(HeadStopTest, a_node_that_comes_back_while_stopping_is_stopped_too) {
  boot();
  pass(6s, {"node-1"});
  take(core_->receive("client", {"q", model::StopPilot{}}));
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)}, 2);
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2"));
}

TEST_F(HeadStopTest, a_service_that_will_not_stop_does_not_hold_up_the_rest_for_ever) {
  boot();
  take(core_->receive("client", {"q", model::StopPilot{}}));
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  stopped("node-1");
  pass(39s, {"node-1", "node-2"});
  EXPECT_THAT(stopped("node-1"), IsEmpty());
  pass(2s, {"node-1", "node-2"});
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  EXPECT_TRUE(noted("fake/worker-1 did not stop within"));
}

TEST_F(HeadStopTest, a_service_that_fails_while_booting_fails_the_start_and_all_is_stopped) {
  enroll("node-1");
  enroll("node-2");
  take(core_->planned("fake", plan()));
  report("node-1", "fake/controller", ServicePhase::ready);
  started("node-2");
  report("node-1", "fake/worker-1", ServicePhase::failed, "exit code 3", "the last words");
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "fake/worker-1 failed: exit code 3");
  EXPECT_EQ(core_->state().service_state("fake/worker-1")->log_tail, "the last words");
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2")) << "it was asked to start and not heard of";
  EXPECT_FALSE(is_done(core_->state()));
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  report("node-1", "fake/controller", ServicePhase::stopped);
  receive("node-1", model::NodeReleased{"node-1", {}});
  receive("node-2", model::NodeReleased{"node-2", {}});
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_THAT(effects<Finish>(), SizeIs(1));
  EXPECT_TRUE(is_done(core_->state()));
}

TEST_F(HeadStopTest, a_plan_or_probe_that_fails_fails_the_start) {
  enroll("node-1");
  enroll("node-2");
  take(core_->planned("fake", make_error(ErrorCode::usage, "3 controllers need 3 nodes", "take more nodes")));
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "fake: 3 controllers need 3 nodes; take more nodes");
  EXPECT_THAT(sent<model::ReleaseNode>("node-1"), SizeIs(1));
}

TEST_F(HeadStopTest, nodes_that_do_not_come_are_named_after_the_time_limit) {
  enroll("node-1");
  pass(181s, {"node-1"});
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "not all nodes came within 3m00s: node-2 missing");
}

TEST_F(HeadStopTest, what_is_not_ready_is_named_after_the_time_limit) {
  enroll("node-1");
  enroll("node-2");
  take(core_->planned("fake", plan()));
  report("node-1", "fake/controller", ServicePhase::starting);
  pass(181s, {"node-1", "node-2"});
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "not ready after 3m00s: fake/controller starting");
}

TEST_F(HeadStopTest, stopping_while_booting_ignores_answers_that_come_late) {
  enroll("node-1");
  enroll("node-2");
  take(core_->receive("client", {"q", model::StopPilot{}}));
  take(core_->planned("fake", plan()));
  EXPECT_TRUE(core_->state().clusters.empty());
  take(core_->probed("fake", ok()));
  EXPECT_EQ(phase(), PilotPhase::stopping);
  EXPECT_THAT(sent<model::ReleaseNode>("node-1"), SizeIs(1));
}

TEST_F(HeadStopTest, the_base_refuses_new_work_and_stops_in_order_before_its_time_is_over) {
  events_.clear();
  model::PilotSpec spec;
  spec.name = "demo";
  spec.nodes = 2;
  spec.walltime = 20min;
  spec.frameworks = {{"fake", {}, {}, {}}};
  log(model::PilotCreated{"id", spec, "0.1", "user", "host"});
  log(model::AllocationSubmitted{"a0", "job-7", 2});
  restart();
  boot();
  pass(18min - 5s, {"node-1", "node-2"});
  EXPECT_FALSE(noted("the time of a0 is over in"));
  pass(10s, {"node-1", "node-2"});
  EXPECT_TRUE(noted("the time of a0 is over in"));
  receive("client", model::ExtendPilot{1, std::nullopt, true});
  EXPECT_THAT(sent<model::Refused>("client").back().error.message, HasSubstr("almost over"));
  EXPECT_EQ(phase(), PilotPhase::ready);
  pass(30s, {"node-1", "node-2"});
  EXPECT_EQ(phase(), PilotPhase::stopping);
  EXPECT_THAT(core_->state().reason, HasSubstr("the time of its base is over in"));
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/worker-1")) << "the controller is needed until then";
}

}  // namespace
}  // namespace pilot::agent
