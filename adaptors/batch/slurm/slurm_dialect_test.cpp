#include "adaptors/batch/slurm/slurm_dialect.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/batch/host/dialect_input.hpp"

namespace pilot::adaptors::slurm {
namespace {

using host::ExitCause;
using host::JobStatus;
using host::test::request;
using host::test::told;
using model::AllocationPhase;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const SlurmDialect slurm;

proc::CommandResult recorded(const std::string& name) {
  return host::test::recorded("slurm", name);
}

std::map<std::string, JobStatus> polled(const std::string& name) {
  auto jobs = slurm.polled(recorded(name));
  EXPECT_TRUE(jobs.has_value()) << name;
  return host::test::by_id(std::move(jobs));
}

JobStatus from_line(const std::string& line) {
  proc::CommandResult answer;
  answer.out = line + "\n";
  return slurm.polled(answer).value().at(0);
}

WallTime at(std::int64_t seconds) {
  return WallTime{std::chrono::seconds(seconds)};
}

TEST(SlurmPollTest, OneCallForAllJobs) {
  const auto command = slurm.poll({"4", "5"});
  EXPECT_THAT(command.argv, Contains("--jobs=4,5"));
  EXPECT_THAT(command.argv, Contains("--states=all")) << "else finished jobs are not shown";
  EXPECT_EQ(command.env.at("SLURM_TIME_FORMAT"), "%s");
}

TEST(SlurmPollTest, Running) {
  const auto jobs = polled("poll_running");
  ASSERT_THAT(jobs, SizeIs(3));
  const JobStatus& job = jobs.at("6");
  EXPECT_EQ(told(job), "running none: RUNNING");
  EXPECT_EQ(job.hosts, "node[01-02]");
  EXPECT_EQ(job.ends_at, at(1795981464));
  EXPECT_EQ(job.starts_at, std::nullopt);
}

TEST(SlurmPollTest, ReasonsToWait) {
  const auto jobs = polled("poll_pending");
  ASSERT_THAT(jobs, SizeIs(9));
  EXPECT_EQ(told(jobs.at("16")), "pending none: PENDING, Resources: waits for nodes to become free");
  EXPECT_EQ(jobs.at("16").starts_at, at(1795981464));
  EXPECT_EQ(jobs.at("16").ends_at, std::nullopt) << "a guess";
  EXPECT_EQ(
      told(jobs.at("17")),
      "pending none: PENDING, ReqNodeNotAvail, UnavailableNodes:node[01-02]: nodes that it needs are down, "
      "drained or reserved");
  EXPECT_EQ(told(jobs.at("18")),
            "pending none: PENDING, BeginTime: its begin time has not come; after a requeue that takes two "
            "minutes");
  EXPECT_EQ(told(jobs.at("19")), "pending none: PENDING, Dependency: waits for another job");
  EXPECT_EQ(told(jobs.at("14")), "pending none: PENDING, PartitionDown: the partition starts no jobs now");
  EXPECT_EQ(told(jobs.at("15")), "pending none: PENDING, JobHeldUser: held; 'scontrol release' lets it go");
}

TEST(SlurmPollTest, WhatCanNeverRun) {
  const auto jobs = polled("poll_pending");
  EXPECT_EQ(told(jobs.at("12")),
            "pending none never: PENDING, PartitionConfig: more than the partition has or allows");
  EXPECT_EQ(told(jobs.at("13")),
            "pending none never: PENDING, PartitionTimeLimit: a longer time than the partition allows");
  EXPECT_EQ(told(jobs.at("11")),
            "pending none never: PENDING, DependencyNeverSatisfied: the job it depends on has failed");
}

TEST(SlurmPollTest, ANewJobHasNoReasonYet) {
  EXPECT_FALSE(from_line("7|PENDING|None|N/A|N/A|").settled);
  EXPECT_TRUE(from_line("7|PENDING|Priority|N/A|N/A|").settled);
}

TEST(SlurmPollTest, HowJobsEnd) {
  const auto jobs = polled("poll_ended");
  EXPECT_EQ(told(jobs.at("9")), "ended completed: COMPLETED");
  EXPECT_EQ(told(jobs.at("7")), "ended failed: FAILED, NonZeroExitCode: its script failed");
  EXPECT_EQ(told(jobs.at("8")),
            "ended failed: FAILED, JobLaunchFailure: killed by a signal, or its output could not be opened");
  EXPECT_EQ(jobs.at("9").ends_at, at(1795980987));
  EXPECT_EQ(told(polled("poll_timeout").at("5")), "ended time limit: TIMEOUT, TimeLimit: its time is over");
  EXPECT_EQ(told(polled("poll_node_fail").at("4")),
            "ended node failure: NODE_FAIL, NodeDown: a node went down");
  EXPECT_EQ(told(polled("poll_cancelled_pending").at("15")), "ended cancelled: CANCELLED, JobHeldUser");
  EXPECT_EQ(told(from_line("7|OUT_OF_MEMORY|OutOfMemory|1|2|n1")),
            "ended out of memory: OUT_OF_MEMORY, OutOfMemory: more memory than was asked for");
  EXPECT_EQ(told(from_line("7|PREEMPTED|None|1|2|n1")), "ended preempted: PREEMPTED");
  EXPECT_EQ(told(from_line("7|BOOT_FAIL|None|1|2|n1")), "ended node failure: BOOT_FAIL");
}

// A requeued job goes through COMPLETING as well.
TEST(SlurmPollTest, CompletingIsNotTheEnd) {
  EXPECT_EQ(told(polled("poll_completing").at("22")), "running none ending: COMPLETING");
  EXPECT_EQ(told(from_line("7|SUSPENDED|None|1|2|n1")), "suspended none: SUSPENDED");
}

TEST(SlurmPollTest, AStateOfTheFutureIsUnknown) {
  EXPECT_EQ(told(from_line("7|TELEPORTED|None|1|2|n1")), "unknown none: TELEPORTED");
}

TEST(SlurmPollTest, UnknownJobsAreLeftOut) {
  EXPECT_THAT(polled("poll_unknown"), IsEmpty());
  EXPECT_THAT(polled("poll_unknown_one_of_two"), SizeIs(1));
}

TEST(SlurmPollTest, NoAnswerIsAnError) {
  const auto down = slurm.polled(recorded("ctld_down_squeue"));
  ASSERT_FALSE(down.has_value());
  EXPECT_EQ(down.error().code, ErrorCode::unavailable);
  EXPECT_EQ(down.error().text(),
            "squeue exited 1: slurm_load_jobs error: Unable to contact slurm controller (connect failure); "
            "slurmctld does not answer");
}

TEST(SlurmHistoryTest, TellsHowAndByWhom) {
  const auto jobs = slurm.remembered(recorded("sacct_parsable_X")).value();
  ASSERT_THAT(jobs, SizeIs(5));
  EXPECT_EQ(told(jobs[0]), "ended completed: COMPLETED");
  EXPECT_EQ(told(jobs[1]), "ended failed: FAILED, exit code 3");
  EXPECT_EQ(told(jobs[2]), "ended failed: FAILED, signal 11");
  EXPECT_EQ(told(jobs[3]), "ended cancelled: CANCELLED by 1001");
  EXPECT_EQ(told(jobs[4]), "ended cancelled: CANCELLED by 1001, JobHeldUser");
  EXPECT_EQ(jobs[4].hosts, "") << "None assigned";
}

TEST(SlurmHistoryTest, TheNewestLineCounts) {
  proc::CommandResult answer;
  answer.out = "9|RESIZING|0:0|None|node[01-03]\n9|COMPLETED|0:0|None|node01\n";
  const auto jobs = slurm.remembered(answer).value();
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(told(jobs[0]), "ended completed: COMPLETED");
}

TEST(SlurmHistoryTest, MayNotExist) {
  EXPECT_EQ(slurm.remembered(recorded("sacct_disabled")).error().code, ErrorCode::not_found);
}

TEST(SlurmSubmitTest, UsersDefaultsDoNotOverruleTheScript) {
  auto wish = request();
  wish.spec.batch["queue"] = "debug";
  wish.spec.walltime = std::chrono::hours(1);
  const auto command = slurm.submit(wish, "/home/u/a b/a0.sh");
  for (const char* variable :
       {"SBATCH_PARTITION", "SBATCH_TIMELIMIT", "SBATCH_MEM_PER_NODE", "SBATCH_JOB_NAME", "SBATCH_EXPORT"})
    EXPECT_THAT(command.argv, Contains(variable));
  EXPECT_EQ(command.argv.back(), "/home/u/a b/a0.sh");
}

TEST(SlurmSubmitTest, FindsTheJobId) {
  EXPECT_EQ(slurm.submitted(recorded("sbatch_parsable")).value(), "10");
  EXPECT_EQ(slurm.submitted(recorded("sbatch_ok")).value(), "3");
  proc::CommandResult answer;
  answer.out = "12;cluster\n";
  EXPECT_EQ(slurm.submitted(answer).value(), "12") << "with several clusters";
  answer.out =
      "---- Welcome to the 3rd Supercomputer ----\n\nNo reservation for this job\n--> Verifying...OK\n4711\n";
  EXPECT_EQ(slurm.submitted(answer).value(), "4711") << "below a site's banner";
  answer.out = "Submitted batch job 12 on cluster wice\n";
  EXPECT_EQ(slurm.submitted(answer).value(), "12");
  answer.out = "hello\n";
  EXPECT_EQ(slurm.submitted(answer).error().code, ErrorCode::unavailable) << "the job may be there";
}

TEST(SlurmSubmitTest, RefusalsSayWhatToDo) {
  const auto refused = [](const std::string& name) { return slurm.submitted(recorded(name)).error(); };
  const std::string sinfo = "'sinfo -o \"%P %l %D %c %m %f\"' shows partitions, limits, nodes";
  EXPECT_EQ(refused("sbatch_bad_partition").text(),
            "sbatch exited 1: invalid partition specified: nosuch; Batch job submission failed: Invalid "
            "partition name specified; 'sinfo' lists partitions");
  EXPECT_EQ(refused("sbatch_bad_constraint").text(),
            "sbatch exited 1: Batch job submission failed: Invalid feature specification; " + sinfo);
  EXPECT_EQ(
      refused("sbatch_too_much_memory").text(),
      "sbatch exited 1: Memory specification can not be satisfied; Batch job submission failed: Requested "
      "node configuration is not available; " +
          sinfo);
  for (const char* name : {"sbatch_bad_partition", "sbatch_bad_constraint", "sbatch_bad_nodelist",
                           "sbatch_bad_option", "sbatch_bad_time", "sbatch_too_much_memory"})
    EXPECT_EQ(refused(name).code, ErrorCode::usage) << name;
  EXPECT_EQ(refused("ctld_down_sbatch").code, ErrorCode::unavailable);
  proc::CommandResult slow;
  slow.timed_out = true;
  EXPECT_EQ(slurm.submitted(slow).error().code, ErrorCode::unavailable);
}

TEST(SlurmSubmitTest, FindsAJobWhoseIdWasLost) {
  auto wish = request();
  wish.pilot_id = "0123";  // as in the recording
  EXPECT_THAT(slurm.found(wish, recorded("find")).value(), ElementsAre("20"));
}

TEST(SlurmCancelTest, WhatIsGoneIsCancelled) {
  for (const char* name : {"scancel_running", "scancel_pending", "scancel_unknown_job"})
    EXPECT_TRUE(slurm.cancelled(recorded(name)).has_value()) << name;
  const auto denied = slurm.cancelled(recorded("scancel_other_users_job"));
  EXPECT_EQ(
      denied.error().text(),
      "scancel exited 210: Kill job error on job id 39: Access/permission denied; it is somebody else's job");
  EXPECT_EQ(slurm.cancelled(recorded("ctld_down_scancel")).error().code, ErrorCode::unavailable);
  EXPECT_FALSE(slurm.cancelled(recorded("scancel_nonsense")).has_value());
}

TEST(SlurmReleaseTest, KeepsTheOthers) {
  EXPECT_THAT(slurm.release("42", {"n1", "n2", "n4"}, {"n3"}).argv,
              testing::IsSupersetOf({"scontrol", "update", "JobId=42", "NodeList=n[1-2,4]"}));
  EXPECT_THAT(slurm.release("42", {"n1"}, {"n3"}).argv, testing::IsSupersetOf({"-u", "SLURM_JOB_ID"}))
      << "else scontrol writes files into the current folder";
  const auto again = slurm.released(recorded("shrink_nodelist")).error();
  EXPECT_EQ(again.code, ErrorCode::unavailable);
  EXPECT_THAT(again.text(), HasSubstr("without slurmdbd a job is resized only once"));
  EXPECT_EQ(slurm.released(recorded("shrink_unknown_job")).error().code, ErrorCode::not_found);
}

TEST(SlurmReleaseTest, OnlyOnceWithoutADatabase) {
  const auto once = slurm.may_release_again(recorded("scontrol_show_config"));
  ASSERT_FALSE(once.has_value());
  EXPECT_EQ(once.error().code, ErrorCode::usage);
  proc::CommandResult answer;
  answer.out = "AccountingStorageTRES   = cpu\nAccountingStorageType   = accounting_storage/slurmdbd\n";
  EXPECT_TRUE(slurm.may_release_again(answer).has_value());
  EXPECT_EQ(slurm.may_release_again(recorded("ctld_down_squeue")).error().code, ErrorCode::unavailable);
}

TEST(SlurmRunTest, OnOneNodeBesideWhatRunsThere) {
  const auto command = slurm.run_on("42", "n2", {"/bin/bash", "/a b/a0.sh", "node", "1"});
  EXPECT_THAT(command.argv,
              testing::IsSupersetOf({"srun", "--jobid=42", "--overlap", "--nodelist=n2", "--mem=0"}));
  EXPECT_EQ(command.argv.back(), "1");
}

}  // namespace
}  // namespace pilot::adaptors::slurm
