// The head's decisions about nodes that become part of the base's job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/agent/head_harness.hpp"

namespace pilot::agent {
namespace {

using namespace test;
using model::AllocationPhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HeadGrowTest : public testing::Test, protected HeadHarness {
 protected:
  void request_growth(int nodes = 1) {
    receive("client", model::ExtendPilot{nodes, std::nullopt, true, true});
    effects<AdmitNodes>();
    take(core_->admitted(ok()));
    EXPECT_THAT(sent<model::ExtensionPlanned>("client"), SizeIs(1));
  }
  void submitted(const std::string& job) { receive("client", model::ExtensionSubmitted{"a1", job}); }
  void wait(Duration time = 2500ms) { pass(time, {"node-1", "node-2"}); }
  void answer(const std::string& job, AllocationPhase phase, const std::string& reason = {}) {
    take(core_->grown("a1", plugin::AllocationStatus{job, phase, reason, {}}));
  }
  const model::AllocationState& added() { return core_->state().allocations.at("a1"); }

  void come(const std::string& id, int rank) {
    auto info = node(id);
    info.allocation = "a1";
    info.rank = rank;
    receive(id, model::RegisterNode{info, {}});
  }
  // node-3 is there, with a worker.
  void grow() {
    boot();
    request_growth();
    submitted("job-8");
    wait();
    answer("job-7", AllocationPhase::running);
    come("node-3", 0);
    auto larger = plan();
    larger.services.push_back(service("fake/worker-3", "node-3", 1, 101));
    larger.nodes.emplace_back("node-3");
    larger.resize.emplace();
    take(core_->planned("fake", larger));
    report("node-3", "fake/worker-3", ServicePhase::ready);
    settle();
    messages_.clear(), effects_.clear();
  }
  void settle() {
    take(core_->probed("fake", ok()));
    take(core_->client_files_written("fake", ok()));
  }
  void drain(const std::string& id, const std::string& worker) {
    auto smaller = core_->state().clusters.at("fake").plan;
    smaller.resize.emplace().draining = {id};
    take(core_->planned("fake", smaller));
    settle();
    report(id, worker, ServicePhase::stopped);
    receive(id, model::NodeReleased{id, {}});
  }
};

TEST_F(HeadGrowTest, nodes_are_handed_over_and_get_agents) {
  boot();
  request_growth(2);
  EXPECT_EQ(added().joins, "a0");
  submitted("job-8");
  wait(500ms);
  const auto looks = effects<GrowBase>();
  ASSERT_THAT(looks, SizeIs(1)) << "one at a time";
  EXPECT_EQ(looks[0].asked, "job-8");
  answer("job-8", AllocationPhase::pending, "Resources");
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
  wait();
  ASSERT_THAT(effects<GrowBase>(), SizeIs(1));
  answer("job-7", AllocationPhase::running);
  EXPECT_EQ(added().job_id, "job-7");
  EXPECT_EQ(added().phase, AllocationPhase::running);
  EXPECT_EQ(added().reason, "part of the job of a0");
  wait(500ms);
  const auto launches = effects<LaunchAgent>();
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_EQ(launches[0].node, "node-3");
  EXPECT_EQ(launches[1].node, "node-4");
  EXPECT_EQ(launches[1].allocation, "a1");
  EXPECT_EQ(launches[1].rank, 1);
  EXPECT_THAT(effects<GrowBase>(), IsEmpty());
  take(core_->launched("node-3", ok()));
  take(core_->launched("node-4", make_error(ErrorCode::unavailable, "node down")));
  EXPECT_TRUE(noted("the agent of node-4 can't be started yet: node down"));
  come("node-3", 0);
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty()) << "not all have come";
  wait(2s);
  ASSERT_THAT(effects<LaunchAgent>(), SizeIs(1)) << "again, and not that which has come";
  come("node-4", 1);
  EXPECT_THAT(effects<PlanCluster>(), SizeIs(1));
}

TEST_F(HeadGrowTest, a_restarted_head_goes_on_where_the_log_ends) {
  boot();
  request_growth();
  submitted("job-8");
  wait();
  effects<GrowBase>();
  restart();
  wait(500ms);
  ASSERT_THAT(effects<GrowBase>(), SizeIs(1)) << "nobody knows whether it was done";
  answer("job-7", AllocationPhase::running);
  restart();
  wait(500ms);
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
  EXPECT_THAT(effects<GrowBase>(), IsEmpty());
}

TEST_F(HeadGrowTest, a_job_whose_client_was_killed_is_found_and_used) {
  boot();
  request_growth();
  wait(20s);
  EXPECT_THAT(effects<GrowBase>(), IsEmpty()) << "the client may be about to ask";
  wait(15s);
  const auto looks = effects<GrowBase>();
  ASSERT_THAT(looks, SizeIs(1));
  EXPECT_EQ(looks[0].asked, "");
  answer("job-8", AllocationPhase::pending);
  EXPECT_EQ(added().job_id, "job-8") << "so that whoever stops the pilot knows it";
}

TEST_F(HeadGrowTest, a_request_that_nobody_made_is_over) {
  boot();
  request_growth();
  wait(31s);
  answer("", AllocationPhase::unknown);
  EXPECT_NE(added().phase, AllocationPhase::ended);
  wait(2min);
  answer("", AllocationPhase::unknown);
  EXPECT_EQ(added().phase, AllocationPhase::ended);
  effects<GrowBase>();
  submitted("job-8");
  EXPECT_THAT(sent<model::Refused>("client").back().error.message, HasSubstr("a1 is over"))
      << "the client takes its job back";
}

TEST_F(HeadGrowTest, what_cannot_be_is_over_with_the_reason) {
  boot();
  request_growth();
  submitted("job-8");
  wait();
  take(core_->grown("a1", make_error(ErrorCode::unavailable, "slow")));
  EXPECT_NE(added().phase, AllocationPhase::ended);
  take(core_->grown("a1", make_error(ErrorCode::usage, "a step exists")));
  EXPECT_EQ(added().phase, AllocationPhase::ended);
  EXPECT_EQ(added().reason, "a step exists");
  effects<GrowBase>();
  wait(1min);
  EXPECT_THAT(effects<GrowBase>(), IsEmpty());
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadGrowTest, a_late_answer_of_the_client_changes_nothing) {
  boot();
  request_growth();
  wait(31s);
  answer("job-7", AllocationPhase::running);
  submitted("job-8");
  EXPECT_EQ(added().job_id, "job-7");
}

TEST_F(HeadGrowTest, its_nodes_are_taken_out_of_the_job_and_not_given_back_with_it) {
  grow();
  receive("client", model::ShrinkPilot{{}, 1});
  const auto questions = effects<CheckRelease>();
  ASSERT_THAT(questions, SizeIs(1));
  ASSERT_THAT(questions[0].parts, SizeIs(1));
  EXPECT_EQ(questions[0].parts[0].allocation, "a1") << "no script runs on its first node";
  EXPECT_TRUE(questions[0].parts[0].again) << "the job was resized when it grew";
  take(core_->release_checked({}));
  EXPECT_THAT(sent<model::ShrinkPlanned>("client").back().nodes, ElementsAre("node-3"));
  drain("node-3", "fake/worker-3");
  EXPECT_THAT(effects<GiveBack>(), IsEmpty()) << "that would be the whole job";
  const auto returns = effects<ReturnNodes>();
  ASSERT_THAT(returns, SizeIs(1));
  EXPECT_THAT(returns[0].part.ranks, ElementsAre(0));
  take(core_->nodes_returned("a1", {0}, ok()));
  EXPECT_EQ(added().phase, AllocationPhase::ended);
  wait(10s);
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadGrowTest, a_job_does_not_grow_and_shrink_at_the_same_time) {
  grow();
  receive("client", model::ShrinkPilot{{"node-2"}, 0});
  take(core_->release_checked({}));
  drain("node-2", "fake/worker-2");
  ASSERT_THAT(effects<ReturnNodes>(), SizeIs(1));
  receive("client", model::ExtendPilot{1, std::nullopt, true, true});
  take(core_->admitted(ok()));
  receive("client", model::ExtensionSubmitted{"a2", "job-9"});
  pass(5s, {"node-1", "node-3"});
  EXPECT_THAT(effects<GrowBase>(), IsEmpty());
  take(core_->nodes_returned("a0", {1}, ok()));
  pass(1s, {"node-1", "node-3"});
  EXPECT_THAT(effects<GrowBase>(), SizeIs(1));
}

}  // namespace
}  // namespace pilot::agent
