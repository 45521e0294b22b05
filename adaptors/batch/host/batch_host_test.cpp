#include <gmock/gmock.h>

#include <functional>

#include "adaptors/batch/host/test_support.hpp"
#include "pilot/base/test_support.hpp"

namespace pilot::adaptors::host {
namespace {

using model::AllocationPhase;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::BatchHostTest;
using test::quick;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(BatchHostTest, SubmitsTheScriptItRenders) {
  when("submit", "echo 7");
  when("poll", "echo 7 running");
  const auto job = host.submit(request);
  ASSERT_TRUE(job.has_value()) << job.error().text();
  EXPECT_EQ(job.value(), "7");
  EXPECT_EQ(read_file(script_file(request)).value(), host.render(request).value()) << "what --dry-run shows";
}

TEST_F(BatchHostTest, RefusalsAreNotRepeated) {
  when("submit", "echo 'no such queue' >&2; exit 1");
  const auto job = host.submit(request);
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().code, ErrorCode::usage);
  EXPECT_EQ(job.error().text(), "cannot submit to play: tool exited 1: no such queue");
  EXPECT_EQ(calls("submit"), 1);
}

TEST_F(BatchHostTest, TriesAgainWhileTheSystemIsDown) {
  when("submit", "[ $n -ge 3 ] || { echo down >&2; exit 5; }; echo 7");
  when("find", "[ $n -ge 2 ] || exit 5");
  when("poll", "echo 7 running");
  const auto job = host.submit(request);
  ASSERT_TRUE(job.has_value()) << job.error().text();
  EXPECT_EQ(calls("submit"), 3);
  EXPECT_EQ(calls("find"), 3) << "it looks before it submits again";
}

// The submission arrived, its answer did not.
TEST_F(BatchHostTest, DoesNotSubmitTwice) {
  when("submit", "echo 'no answer' >&2; exit 5");
  when("find", "echo 7");
  when("poll", "echo 7 running");
  EXPECT_EQ(host.submit(request).value(), "7");
  EXPECT_EQ(calls("submit"), 1);
}

TEST_F(BatchHostTest, GivesUpWhenItsPatienceIsOver) {
  HostTiming timing = quick();
  timing.patience = milliseconds(50);
  BatchHost hasty{std::make_unique<PlayDialect>(folder.string()), timing, clocks};
  when("submit", "echo down >&2; exit 5");
  when("find", "echo down >&2; exit 5");
  EXPECT_EQ(hasty.submit(request).error().code, ErrorCode::unavailable);
}

TEST_F(BatchHostTest, RefusesJobsThatWouldWaitForEver) {
  when("submit", "echo 7");
  when("poll", "echo 7 never");
  const auto job = host.submit(request);
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().code, ErrorCode::usage);
  EXPECT_EQ(job.error().text(), "cannot submit to play: the job would never run: never");
  EXPECT_EQ(calls("cancel 7"), 1) << "and leaves none of them in the queue";
}

TEST_F(BatchHostTest, SaysWhenTheToolsAreMissing) {
  ASSERT_TRUE(remove_tree(folder / "tool").has_value());
  EXPECT_FALSE(host.submit(request).has_value());
  EXPECT_THAT(poll_one().reason, HasSubstr("Play does not answer"));
}

TEST_F(BatchHostTest, AsksOncePerIntervalForAllPilotsOfTheUser) {
  when("poll", "for id; do echo $id running; done");
  EXPECT_EQ(poll_one().phase, AllocationPhase::running);
  EXPECT_EQ(poll_one().phase, AllocationPhase::running);
  BatchHost another{std::make_unique<PlayDialect>(folder.string()), quick(), clocks};
  EXPECT_EQ(another.poll(request, {"7"}).value()[0].phase, AllocationPhase::running);
  EXPECT_EQ(calls("poll"), 1);
  manual.advance(seconds(11));
  EXPECT_EQ(poll_one("8").phase, AllocationPhase::running);
  EXPECT_EQ(last_call(), "poll 7 8") << "one call answers for both";
  EXPECT_EQ(poll_one("7").phase, AllocationPhase::running);
  EXPECT_EQ(calls("poll"), 2);
  request.spec.batch["poll_interval"] = "1s";
  manual.advance(seconds(2));
  poll_one("7");
  EXPECT_EQ(calls("poll"), 3);
}

TEST_F(BatchHostTest, SilenceIsUnknownNotGone) {
  when("poll", "echo 'connect failure' >&2; exit 5");
  const auto status = poll_one();
  EXPECT_EQ(status.phase, AllocationPhase::unknown);
  EXPECT_EQ(status.reason, "Play does not answer: tool exited 5: connect failure");
  poll_one();
  EXPECT_EQ(calls("poll"), 1) << "nor is it asked more often for that";
}

// A system that is away takes its time to say nothing; asked again at once for that, each look takes as long.
TEST_F(BatchHostTest, WhatWasSaidIsAsOldAsTheAnswer) {
  class HalfAMinuteForEachAnswer final : public Clock {
   public:
    explicit HalfAMinuteForEachAnswer(std::function<int()> answers) : answers_(std::move(answers)) {}
    WallTime wall() const override { return WallTime{} + answers_() * seconds(30); }
    SteadyTime steady() const override { return system_clock().steady(); }

   private:
    std::function<int()> answers_;
  } const slow([this] { return calls("poll"); });
  BatchHost patient{std::make_unique<PlayDialect>(folder.string()), quick(), slow};
  when("poll", "echo 'connect failure' >&2; exit 5");
  for (int look = 0; look < 3; ++look)
    EXPECT_EQ(patient.poll(request, {"7"}).value()[0].phase, AllocationPhase::unknown);
  EXPECT_EQ(calls("poll"), 1);
}

TEST_F(BatchHostTest, AbsentIsNotFinished) {
  when("history", "exit 1");
  const auto status = poll_one();
  EXPECT_EQ(status.phase, AllocationPhase::unknown);
  EXPECT_EQ(status.reason, "Play does not know job 7");
}

TEST_F(BatchHostTest, HistoryKnowsMore) {
  when("history", "echo 7 ended");
  EXPECT_EQ(poll_one().phase, AllocationPhase::ended);
}

TEST_F(BatchHostTest, TheJobsOwnWordCountsWhereThereIsNoHistory) {
  when("history", "exit 1");
  ASSERT_TRUE(write_file(exit_file(request), "7 143 1795980950 told to end\n").has_value());
  ASSERT_TRUE(write_file(output_file(request), "one\ntwo\nno space left\n").has_value());
  auto status = poll_one();
  EXPECT_EQ(status.phase, AllocationPhase::ended);
  EXPECT_THAT(status.reason,
              StartsWith("its script ended with exit code 143 (told to end); its output ends"));
  EXPECT_THAT(status.reason, HasSubstr("no space left"));
  ASSERT_TRUE(write_file(exit_file(request), "6 0 1795980950 end\n").has_value());
  EXPECT_EQ(poll_one().phase, AllocationPhase::unknown) << "an earlier job's";
}

TEST_F(BatchHostTest, CancellingWaitsUntilTheJobIsGone) {
  when("poll", "[ $n -ge 3 ] && echo 7 ended || echo 7 ending");
  ASSERT_TRUE(host.cancel(request, "7").has_value());
  EXPECT_EQ(calls("poll"), 3);
  EXPECT_EQ(poll_one().phase, AllocationPhase::ended);
  EXPECT_EQ(calls("poll"), 3) << "that is known now";
  EXPECT_TRUE(host.cancel(request, "").has_value()) << "no job: nothing to do";
}

TEST_F(BatchHostTest, CancellingAJobThatNobodyKnowsIsSuccess) {
  when("history", "exit 1");
  EXPECT_TRUE(host.cancel(request, "7").has_value());
}

TEST_F(BatchHostTest, SaysWhenACancelledJobStays) {
  HostTiming timing = quick();
  timing.cancel = milliseconds(100);
  BatchHost hasty{std::make_unique<PlayDialect>(folder.string()), timing, clocks};
  when("poll", "echo 7 ending");
  const auto cancelled = hasty.cancel(request, "7");
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().code, ErrorCode::timed_out);
  EXPECT_THAT(cancelled.error().message, HasSubstr("the job is still ending"));
}

// A node that does not answer holds a job up in COMPLETING for a minute and more.
TEST_F(BatchHostTest, DoesNotWaitForACancelledJobThatIsEndingForLong) {
  HostTiming timing = quick();
  timing.ending = milliseconds(50);
  BatchHost patient{std::make_unique<PlayDialect>(folder.string()), timing, clocks};
  when("poll", "echo 7 ending");
  const auto cancelled = patient.cancel(request, "7");
  ASSERT_TRUE(cancelled.has_value()) << cancelled.error().text();
}

TEST_F(BatchHostTest, CancelIsRefused) {
  when("cancel", "echo 'not yours' >&2; exit 1");
  EXPECT_EQ(host.cancel(request, "7").error().text(), "cancelling job 7 of play: tool exited 1: not yours");
}

TEST_F(BatchHostTest, LaunchesOnTheNodeOfTheRank) {
  HostTiming timing = quick();
  timing.launch = milliseconds(300);
  BatchHost hasty{std::make_unique<PlayDialect>(folder.string()), timing, clocks};
  ASSERT_TRUE(write_file(nodes_file(request), "n1\nn2\n").has_value());
  when("poll", "echo '7 running n[1-2]'");
  when("run", "[ $2 = n2 ] && sleep 600");
  const auto launched = hasty.launch_agent(request, "7", 1);
  ASSERT_TRUE(launched.has_value()) << launched.error().text();
  EXPECT_TRUE(pilot::test::eventually([&] { return last_call() == "run 7 n2"; })) << last_call();
  // What was launched outlives us; end it.
  when("run", "");
  model::Command end;
  end.argv = {"/bin/bash", "-c",
              "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null | grep -qF \"$0/tool run\" && "
              "kill -9 -- -${p#/proc/}; done; true",
              folder.string()};
  end.directory = "/";
  EXPECT_TRUE(proc::run_command(end, seconds(60)).value().succeeded());
}

TEST_F(BatchHostTest, OneThatRunsAlreadyIsSuccess) {
  ASSERT_TRUE(write_file(nodes_file(request), "n1\nn2\n").has_value());
  when("poll", "echo '7 running n[1-2]'");
  EXPECT_TRUE(host.launch_agent(request, "7", 1).has_value());
}

TEST_F(BatchHostTest, SaysWhyNothingCanBeLaunched) {
  ASSERT_TRUE(write_file(nodes_file(request), "n1\nn2\nn3\n").has_value());
  when("poll", "echo '7 running n[1-2]'");
  when("run", "echo 'node down' >&2; exit 1");
  auto refused = host.launch_agent(request, "7", 1).error();
  EXPECT_EQ(refused.code, ErrorCode::unavailable);
  EXPECT_THAT(refused.message, HasSubstr("no agent could be started on n2"));
  EXPECT_THAT(refused.message, HasSubstr("node down"));
  refused = host.launch_agent(request, "7", 2).error();
  EXPECT_EQ(refused.text(), "job 7 has lost node n3; it holds n[1-2]");
  EXPECT_EQ(refused.code, ErrorCode::not_found);
  EXPECT_EQ(host.launch_agent(request, "7", 3).error().code, ErrorCode::not_found);
  when("poll", "echo 7 ended");
  EXPECT_EQ(host.launch_agent(request, "7", 1).error().code, ErrorCode::not_found);
  when("poll", "echo 7 ending");
  EXPECT_EQ(host.launch_agent(request, "7", 1).error().code, ErrorCode::not_found);
  when("poll", "echo 7 pending");
  EXPECT_EQ(host.launch_agent(request, "7", 1).error().code, ErrorCode::unavailable);
  when("poll", "echo '7 suspended n[1-3]'");
  const int launches = calls("run");
  EXPECT_THAT(host.launch_agent(request, "7", 1).error().text(), HasSubstr("job 7 is suspended"));
  EXPECT_EQ(calls("run"), launches) << "with PBS it would hang, and the node with it";
  when("poll", "exit 5");
  EXPECT_EQ(host.launch_agent(request, "7", 1).error().code, ErrorCode::unavailable);
}

TEST_F(BatchHostTest, RefusesWhatDoesNotFitBeforeItSubmits) {
  when("sizes", "echo 1");
  EXPECT_EQ(host.submit(request).error().text(), "cannot submit to play: there are only 1 nodes");
  EXPECT_EQ(calls("submit"), 0);
  when("sizes", "exit 5");  // who does not answer says nothing
  when("submit", "echo 7");
  when("poll", "echo '7 running'");
  EXPECT_EQ(host.submit(request).value(), "7");
}

TEST_F(BatchHostTest, ValidatesWithoutAJob) {
  when("sizes", "echo 2");
  when("judge", "[ -s \"$1\" ] && echo it would start");
  const auto said = host.validate(request);
  ASSERT_TRUE(said.has_value()) << said.error().text();
  EXPECT_THAT(said.value().back(), HasSubstr("it would start"));
  EXPECT_EQ(calls("submit"), 0);
  EXPECT_FALSE(std::filesystem::exists(last_call().substr(6))) << "the script was for that only";
  when("judge", "exit 1");
  EXPECT_EQ(host.validate(request).error().code, ErrorCode::usage);
  when("sizes", "echo 1");
  EXPECT_EQ(host.validate(request).error().text(), "there are only 1 nodes");
}

TEST_F(BatchHostTest, GivesNodesBackOnce) {
  EXPECT_TRUE(write_file(nodes_file(request), "n1\nn2\nn3\nn4\n").has_value());
  when("poll", "if [ -e gone ]; then echo '7 running n[1,3].cluster'; else echo '7 running n[1-3]'; fi");
  when("release", "[ $n -gt 2 ] || exit 5; touch gone");  // as PBS in a job's first seconds
  const auto released = host.release(request, "7", {1});
  ASSERT_TRUE(released.has_value()) << released.error().text();
  EXPECT_EQ(calls("release 7 keep n1 n3 drop n2"), 3) << "n4 was lost before";
  EXPECT_TRUE(host.release(request, "7", {1}).has_value());
  EXPECT_EQ(calls("release"), 3) << "there is nothing left to do";
}

TEST_F(BatchHostTest, SaysWhyNodesStay) {
  EXPECT_TRUE(write_file(nodes_file(request), "n1\nn2\n").has_value());
  when("poll", "echo '7 running n[1-2]'");
  EXPECT_THAT(host.release(request, "7", {1}).error().text(),
              HasSubstr("the command succeeded, but the job still holds n2"));
  when("release", "exit 1");
  EXPECT_EQ(host.release(request, "7", {1}).error().code, ErrorCode::usage);
  EXPECT_EQ(host.release(request, "7", {2}).error().code, ErrorCode::not_found);
  when("poll", "echo '7 ended'");
  EXPECT_EQ(host.release(request, "7", {1}).error().code, ErrorCode::not_found);
  EXPECT_THAT(host.can_release(request, "7", {0}, false).error().text(),
              HasSubstr("can't take n1 from job 7"));
  when("limits", "exit 1");
  EXPECT_TRUE(host.can_release(request, "7", {1}, false).has_value()) << "the first time nobody is asked";
  EXPECT_THAT(host.can_release(request, "7", {1}, true).error().text(), HasSubstr("for a second time"));
}

// PBS holds a job up that is told to end while it does so by itself.
TEST_F(BatchHostTest, AJobWhoseScriptHasEndedIsLeftToEnd) {
  ASSERT_TRUE(write_file(nodes_file(request), "n1\n").has_value());
  ASSERT_TRUE(write_file(exit_file(request), "7 0 1795980950 end\n").has_value());
  when("poll", "if [ $n -ge 3 ]; then touch over; echo 7 ended; else echo 7 running; fi");
  when("cancel", "[ -e over ] || touch hasty");
  ASSERT_TRUE(host.cancel(request, "7").has_value());
  EXPECT_FALSE(std::filesystem::exists(folder / "hasty"));
}

TEST_F(BatchHostTest, CancelsWhatWasSubmittedThoughNobodyWasTold) {
  when("find", "echo 8 9");
  when("poll", "echo 8 ended; echo 9 ended");
  ASSERT_TRUE(host.cancel(request, "").has_value());
  EXPECT_EQ(calls("cancel 8"), 1);
  EXPECT_EQ(calls("cancel 9"), 1);
  when("find", "exit 1");
  EXPECT_THAT(host.cancel(request, "").error().text(), HasSubstr("looking for jobs of a0"));
}

TEST_F(BatchHostTest, ChecksItsOwnOption) {
  request.spec.batch["poll_interval"] = "often";
  EXPECT_EQ(host.check(request.spec).error().text(),
            "batch.poll_interval: 'often' is no time; a time like 10s or 1m");
}

}  // namespace
}  // namespace pilot::adaptors::host
