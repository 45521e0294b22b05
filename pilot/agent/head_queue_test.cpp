// What the head does about extensions that wait for their nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/agent/head_harness.hpp"

namespace pilot::agent {
namespace {

using namespace test;
using model::AllocationPhase;
using testing::IsEmpty;
using testing::SizeIs;

class HeadQueueTest : public testing::Test, protected HeadHarness {
 protected:
  void SetUp() override {
    boot();
    receive("client", model::ExtendPilot{1, std::nullopt, true, false, "50MB/s"});
    take(core_->admitted(ok()));
    receive("client", model::ExtensionSubmitted{"a1", "job-8"});
    effects<AdmitNodes>();
  }

  void hear(AllocationPhase phase, const std::string& reason) {
    plugin::AllocationStatus status;
    status.job_id = "job-8";
    status.phase = phase;
    status.reason = reason;
    take(core_->job_seen("a1", status));
  }
  void pass_by(Duration time) { pass(time, {"node-1", "node-2"}); }
  const model::AllocationState& extension() { return core_->state().allocations.at("a1"); }
};

TEST_F(HeadQueueTest, its_job_is_asked_for_though_the_client_is_gone) {
  pass_by(9s);
  EXPECT_THAT(effects<LookAtJob>(), IsEmpty());
  pass_by(2s);
  ASSERT_THAT(effects<LookAtJob>(), SizeIs(1)) << "one question at a time";
  pass_by(30s);
  EXPECT_THAT(effects<LookAtJob>(), IsEmpty());
  hear(AllocationPhase::pending, "Resources");
  EXPECT_EQ(extension().reason, "Resources");
  pass_by(11s);
  EXPECT_THAT(effects<LookAtJob>(), SizeIs(1));
  hear(AllocationPhase::pending, "Resources; expected to start at noon");
  EXPECT_EQ(extension().reason, "Resources") << "the log shall not fill with estimates";
  pass_by(1min);
  hear(AllocationPhase::pending, "Resources; expected to start at two");
  EXPECT_EQ(extension().reason, "Resources; expected to start at two");
}

TEST_F(HeadQueueTest, a_job_that_ended_in_the_queue_ends_the_extension) {
  pass_by(11s);
  take(core_->job_seen("a1", make_error(ErrorCode::unavailable, "squeue does not answer")));
  EXPECT_EQ(extension().phase, AllocationPhase::pending);
  hear(AllocationPhase::unknown, "slurm knows no job job-8");
  EXPECT_EQ(extension().phase, AllocationPhase::pending) << "unknown is not gone";
  hear(AllocationPhase::ended, "CANCELLED");
  EXPECT_EQ(extension().phase, AllocationPhase::ended);
  EXPECT_EQ(extension().reason, "CANCELLED");
  effects<LookAtJob>();
  pass_by(30s);
  EXPECT_THAT(effects<LookAtJob>(), IsEmpty());
}

// Whoever wanted it was killed between the wish and the job's id, or never heard whether it was taken.
TEST_F(HeadQueueTest, a_job_that_nobody_told_of_is_looked_for) {
  const auto request = [&] {
    receive("client", model::ExtendPilot{1, std::nullopt, true});
    take(core_->admitted(ok()));
    effects<FindJob>();
  };
  request();
  pass_by(29s);
  EXPECT_THAT(effects<FindJob>(), IsEmpty()) << "it may just be slow";
  pass_by(2s);
  auto looks = effects<FindJob>();
  ASSERT_THAT(looks, SizeIs(1));
  EXPECT_EQ(looks[0].allocation, "a2");
  take(core_->job_found("a2", make_error(ErrorCode::unavailable, "squeue does not answer")));
  take(core_->job_found("a2", std::string("job-9")));
  EXPECT_EQ(core_->state().allocations.at("a2").job_id, "job-9");
  receive("client", model::ExtensionSubmitted{"a2", "job-9"});
  EXPECT_EQ(core_->state().allocations.at("a2").phase, AllocationPhase::pending) << "as it was told at last";

  request();
  for (int i = 0; i < 20; ++i) {
    pass_by(10s);
    if (!effects<FindJob>().empty()) take(core_->job_found("a3", std::string()));
    if (i == 6) {
      EXPECT_EQ(core_->state().allocations.at("a3").phase, AllocationPhase::pending);
    }
  }
  EXPECT_EQ(core_->state().allocations.at("a3").phase, AllocationPhase::ended);
  EXPECT_EQ(core_->state().allocations.at("a3").reason, "nobody has asked for its nodes");
}

TEST_F(HeadQueueTest, a_throttle_that_was_wished_is_that_of_the_move) {
  auto info = node("node-3");
  info.allocation = "a1";
  info.rank = 0;
  receive("node-3", model::RegisterNode{info, {}});
  const auto plans = effects<PlanCluster>();
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_EQ(plans[0].throttle, "50MB/s");
}

}  // namespace
}  // namespace pilot::agent
