#include "miniapps/processors/process_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace miniapps::processors {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Waits until `condition` holds; false after ten seconds.
template <typename Condition>
bool wait_until(ProcessGroup& group, Condition condition) {
  const pilot::Deadline deadline(pilot::system_clock(), 10s);
  while (!condition() && !deadline.passed()) group.wait(20ms);
  return condition();
}

// Reports one message and waits for SIGTERM.
pilot::Result<void> one_message_each(int index, const ProcessGroup::Publish& publish) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  ProcessReport report;
  report.topic = "frames";
  report.messages = report.stored = 1;
  report.workers = {{"0", 1, 100, 0.5, 0.5}};
  report.runs = {std::string(32, static_cast<char>('a' + index))};
  report.idle_s = 1 + index;
  publish(report);
  int signal = 0;
  sigwait(&set, &signal);
  report.messages = report.stored = 2;
  publish(report);
  return pilot::ok();
}

TEST(ProcessGroup, SumsUpWhatTheChildrenReport) {
  ProcessGroup group({.processes = 3}, one_message_each);
  ASSERT_TRUE(group.start().has_value());
  ASSERT_TRUE(wait_until(group, [&] { return group.report().messages == 3; }));
  EXPECT_EQ(group.report().processes, 3);
  EXPECT_EQ(group.report().runs.size(), 3u);
  EXPECT_EQ(group.report().workers.size(), 3u);
  EXPECT_EQ(group.report().idle_s, 1);
  group.request_stop();
  ASSERT_TRUE(wait_until(group, [&] { return group.finished(); }));
  EXPECT_TRUE(group.result().has_value());
  EXPECT_EQ(group.report().messages, 6u) << "the last reports count";
}

TEST(ProcessGroup, KilledChildIsRestartedAndItsFiguresStay) {
  ProcessGroup group({.processes = 2, .max_restarts = 1}, one_message_each);
  ASSERT_TRUE(group.start().has_value());
  ASSERT_TRUE(wait_until(group, [&] { return group.report().messages == 2; }));
  const auto before = group.pids();
  ::kill(before[0], SIGKILL);
  ASSERT_TRUE(wait_until(group, [&] { return group.report().messages == 3; }));
  EXPECT_EQ(group.report().restarts, 1u);
  ::kill(group.pids()[0], SIGKILL);
  ASSERT_TRUE(wait_until(group, [&] { return group.finished(); })) << "too often: all are stopped";
  EXPECT_THAT(group.result().error().message,
              HasSubstr("was killed by signal 9 (Killed); it was restarted too often"));
}

TEST(ProcessGroup, ErrorOfOneChildStopsAllAndIsTheResult) {
  ProcessGroup group(
      {.processes = 3}, [](int index, const ProcessGroup::Publish& publish) -> pilot::Result<void> {
        if (index == 1)
          return pilot::make_error(pilot::ErrorCode::unavailable, "no broker answers", "start one");
        return one_message_each(index, publish);
      });
  ASSERT_TRUE(group.start().has_value());
  ASSERT_TRUE(wait_until(group, [&] { return group.finished(); }));
  EXPECT_EQ(group.result().error().code, pilot::ErrorCode::unavailable);
  EXPECT_THAT(group.result().error().message, HasSubstr("no broker answers; start one"));
}

TEST(ProcessGroup, LeavesNobodyBehind) {
  std::vector<pid_t> pids;
  {
    ProcessGroup group({.processes = 2}, one_message_each);
    ASSERT_TRUE(group.start().has_value());
    pids = group.pids();
  }
  for (auto pid : pids) EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace miniapps::processors
