// The head's decisions when jobs are suspended, when it stood still itself, and when clocks are off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/agent/head_harness.hpp"

namespace pilot::agent {
namespace {

using namespace test;
using model::AllocationPhase;
using testing::IsEmpty;
using testing::SizeIs;

class HeadTimeTest : public testing::Test, protected HeadHarness {
 protected:
  // A third node by a job of its own, for as long as `walltime`.
  void extend(std::optional<Duration> walltime = std::nullopt) {
    boot();
    receive("client", model::ExtendPilot{1, walltime, true});
    take(core_->admitted(ok()));
    receive("client", model::ExtensionSubmitted{"a1", "job-8"});
    enroll_third(0s);
    take(core_->planned("fake", grown()));
    report("node-3", "fake/worker-3", ServicePhase::ready);
    take(core_->probed("fake", ok()));
    take(core_->client_files_written("fake", ok()));
    messages_.clear(), effects_.clear();
  }
  static model::ClusterPlan grown() {
    auto plan = test::plan();
    plan.services.push_back(service("fake/worker-3", "node-3", 1, 101));
    plan.nodes.push_back("node-3");
    plan.resize.emplace();
    return plan;
  }
  void enroll_third(std::optional<Duration> age, Duration ahead = 0s) {
    auto info = node("node-3");
    info.allocation = "a1", info.rank = 0;
    model::RegisterNode message{info, {}, age, clock_.wall() + ahead};
    if (core_->state().service_state("fake/worker-3") != nullptr)
      message.services.push_back(change("fake/worker-3", ServicePhase::ready));
    receive("node-3", message);
  }
  void job_is(const std::string& id, AllocationPhase phase, const std::string& reason = {},
              std::optional<WallTime> ends_at = {}) {
    take(core_->job_seen(id, plugin::AllocationStatus{"job", phase, reason, ends_at}));
  }
  const model::NodeState& third() { return core_->state().nodes.at("node-3"); }
  const model::AllocationState& a1() { return core_->state().allocations.at("a1"); }
};

TEST_F(HeadTimeTest, an_extension_whose_job_is_over_is_done_without_at_once) {
  extend();
  job_is("a1", AllocationPhase::ended, "TIMEOUT");
  EXPECT_EQ(a1().phase, AllocationPhase::running) << "its agents are still here";
  pass(6s, {"node-1", "node-2"});
  job_is("a1", AllocationPhase::ended, "TIMEOUT");
  EXPECT_EQ(a1().phase, AllocationPhase::ended);
  EXPECT_EQ(a1().reason, "TIMEOUT");
  EXPECT_TRUE(third().draining);
  job_is("a0", AllocationPhase::ended, "TIMEOUT");
  EXPECT_NE(core_->state().allocations.at("a0").phase, AllocationPhase::ended) << "node-1 speaks to us";
}

TEST_F(HeadTimeTest, a_suspended_job_is_waited_for) {
  extend();
  pass(6s, {"node-1", "node-2"});
  EXPECT_EQ(third().phase, NodePhase::lost);
  const auto looks = effects<LookAtJob>();
  ASSERT_FALSE(looks.empty()) << "its job may say why";
  EXPECT_EQ(looks[0].allocation, "a1");
  job_is("a1", AllocationPhase::suspended, "SUSPENDED");
  EXPECT_EQ(a1().phase, AllocationPhase::suspended);
  EXPECT_EQ(core_->state().reason, "a1 is suspended by the batch system: SUSPENDED");
  effects<LaunchAgent>();
  pass(1h, {"node-1", "node-2"});
  EXPECT_FALSE(third().draining) << "it is not done without";
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty()) << "nor started again";
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());

  job_is("a1", AllocationPhase::unknown, "it does not answer");
  EXPECT_EQ(a1().phase, AllocationPhase::suspended) << "nothing follows from that";
  enroll_third(1h);
  EXPECT_EQ(a1().phase, AllocationPhase::running) << "it goes on";
  EXPECT_EQ(a1().reason, "");
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadTimeTest, after_a_suspension_patience_begins_anew) {
  extend();
  pass(6s, {"node-1", "node-2"});
  job_is("a1", AllocationPhase::suspended, "SUSPENDED");
  pass(10min, {"node-1", "node-2"});
  job_is("a1", AllocationPhase::running);
  pass(core_->state().spec.lost_after - 1s, {"node-1", "node-2"});
  EXPECT_FALSE(third().draining);
  pass(2s, {"node-1", "node-2"});
  EXPECT_TRUE(third().draining) << "it did not come back";
}

TEST_F(HeadTimeTest, an_end_that_the_batch_system_moves_is_moved) {
  extend(20min);
  EXPECT_THAT(effects<LookAtJob>(), IsEmpty());
  pass(1s, {"node-1", "node-2", "node-3"});
  EXPECT_THAT(effects<LookAtJob>(), SizeIs(1)) << "to hear of its end";
  const WallTime end = clock_.wall() - 5h;  // by another clock
  job_is("a1", AllocationPhase::running, {}, end);
  EXPECT_EQ(a1().prolonged, 0s);
  job_is("a1", AllocationPhase::running, {}, end + 1s);
  EXPECT_EQ(a1().told_end, end) << "rounded";
  job_is("a1", AllocationPhase::running, {}, end + 30min);
  EXPECT_EQ(a1().prolonged, 30min);
  pass(40min, {"node-1", "node-2", "node-3"});
  EXPECT_FALSE(third().draining);
  pass(9min, {"node-1", "node-2", "node-3"});
  EXPECT_TRUE(third().draining);
}

TEST_F(HeadTimeTest, a_head_on_another_host_knows_how_old_an_allocation_is) {
  extend(1h);
  clock_.advance(10min);
  clock_.set_ahead(5h);  // its clock is five hours ahead
  restart();
  take(core_->tick());
  EXPECT_EQ(phase(), PilotPhase::ready) << "by the log and the wall clock all ended hours ago";
  enroll("node-1"), enroll("node-2"), enroll_third(10min);
  pass(40min, {"node-1", "node-2", "node-3"});
  EXPECT_FALSE(third().draining) << "the wall clock says that it ended hours ago";
  pass(5min, {"node-1", "node-2", "node-3"});
  EXPECT_TRUE(third().draining);
}

TEST_F(HeadTimeTest, while_it_stood_still_nobody_could_be_heard) {
  extend();
  clock_.advance(8h);
  take(core_->tick());
  EXPECT_TRUE(noted("stood still for 8h"));
  EXPECT_EQ(third().phase, NodePhase::up);
  EXPECT_EQ(phase(), PilotPhase::ready);
  pass(10s, {"node-1", "node-2"});
  EXPECT_EQ(third().phase, NodePhase::lost) << "now it could have been";
}

TEST_F(HeadTimeTest, a_clock_that_is_off_is_told) {
  extend();
  EXPECT_EQ(third().clock_ahead, 0s);
  enroll_third(1min, -9s);
  EXPECT_EQ(third().clock_ahead, 0s) << "the message's way takes time";
  enroll_third(1min, -5min);
  EXPECT_EQ(third().clock_ahead, -5min);
  EXPECT_EQ(model::clock_warning(third().clock_ahead), "its clock is 5m00s behind that of the head's node");
  clock_.advance(1h);
  take(core_->tick());
  enroll_third(1min, -1h);
  EXPECT_EQ(third().clock_ahead, -5min) << "a message that waited while the head stood still";
}

}  // namespace
}  // namespace pilot::agent
