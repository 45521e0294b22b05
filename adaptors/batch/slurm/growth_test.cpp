#include "adaptors/batch/slurm/growth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/batch/host/dialect_input.hpp"

namespace pilot::adaptors::slurm {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

const SlurmGrowth growth;

proc::CommandResult recording(const std::string& name) {
  return host::test::recorded("slurm", name);
}

plugin::AllocationRequest growing() {
  auto made = host::test::request();
  made.allocation = "a1";
  made.joins_job = "41";
  return made;
}

TEST(SlurmGrowthTest, AsksWhetherJobsMayGrow) {
  EXPECT_THAT(growth.ask_for_permission().argv, IsSupersetOf({"scontrol", "show", "config"}));
  EXPECT_TRUE(growth.permitted(recording("scontrol_show_config")).has_value());
  proc::CommandResult answer;
  answer.out = "\nSchedulerParameters     = bf_interval=5\nSchedulerTimeSlice      = 30 sec\n";
  const auto refused = growth.permitted(answer);
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("SchedulerParameters     = bf_interval=5'"), HasSubstr("without --in-place")));
  answer.out = "\nSchedulerType = sched/backfill\n";
  EXPECT_TRUE(growth.permitted(answer).has_value()) << "salloc will say it";
  EXPECT_EQ(growth.permitted(recording("ctld_down_squeue")).error().code, ErrorCode::unavailable);
}

TEST(SlurmGrowthTest, AsksAsTheBaseDidForOtherNodesAndItsTimeThatIsLeft) {
  auto request = growing();
  request.spec.batch = {
      {"queue", "fast lane"}, {"mail", "me@here"}, {"skip", "mem"}, {"extra", "#SBATCH --licenses=a\n# b"}};
  request.spec.walltime = std::chrono::hours(2);
  const auto argv = growth.ask(request, "node[01-02]", std::chrono::seconds(61)).argv;
  EXPECT_THAT(argv,
              IsSupersetOf({"salloc", "--no-shell", "--dependency=expand:41", "--exclude=node[01-02]",
                            "--time=2", "--nodes=2", "--job-name=pilot-demo", "--comment=pilot 0123456789 a1",
                            "--partition=fast lane", "--exclusive", "--licenses=a", "SALLOC_PARTITION"}));
  for (const char* unwanted :
       {"--time=120", "--mem", "--output", "--signal", "--no-requeue", "--mail", "--export", "b"})
    EXPECT_THAT(argv, Not(Contains(StartsWith(unwanted)))) << unwanted;
  EXPECT_THAT(growth.ask(request, "", std::chrono::seconds(-5)).argv, Contains("--time=1"));
  EXPECT_THAT(growth.ask(request, "", std::nullopt).argv, Not(Contains(StartsWith("--time"))));
}

TEST(SlurmGrowthTest, FindsTheIdOfTheJobThatAsks) {
  EXPECT_EQ(growth.asked(recording("grow_salloc_expander")).value(), "2");
  proc::CommandResult answer;
  answer.out = "salloc: Pending job allocation 1234\nsalloc: job 1234 queued and waiting for resources\n";
  EXPECT_EQ(growth.asked(answer).value(), "1234");
  answer.out = "hello\n";
  EXPECT_EQ(growth.asked(answer).error().code, ErrorCode::failed);
}

TEST(SlurmGrowthTest, WhatIsNotPermittedSaysWhatToDo) {
  const auto refused = growth.asked(recording("expand_not_permitted")).error();
  EXPECT_EQ(refused.code, ErrorCode::usage);
  EXPECT_EQ(refused.text(),
            "salloc exited 1: Job submit/allocate failed: Requested operation not supported on this system; "
            "this Slurm "
            "does not permit jobs to grow; without --in-place the nodes come by a job of their own");
}

TEST(SlurmGrowthTest, HandsOverAllNodesFromOutsideOfTheJob) {
  EXPECT_THAT(growth.hand_over("2").argv,
              IsSupersetOf({"-u", "SLURM_JOB_ID", "scontrol", "update", "JobId=2", "NumNodes=0"}))
      << "within a job scontrol writes files into the current folder";
  EXPECT_TRUE(growth.handed_over(recording("grow_salloc_release_nodes")).has_value());
  EXPECT_THAT(growth.handed_over(recording("grow_expand_release_nodes")).error().text(),
              HasSubstr("Job step already exists for job 41"));
}

}  // namespace
}  // namespace pilot::adaptors::slurm
