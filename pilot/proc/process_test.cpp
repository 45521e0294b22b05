#include "pilot/proc/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "pilot/proc/identity.hpp"
#include "pilot/proc/test_support.hpp"

namespace pilot::proc {
namespace {

using namespace std::chrono_literals;
using proc::test::shell;

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    char name[] = "/tmp/pilot-proc-test-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~ProcessTest() override { std::filesystem::remove_all(folder_); }

  template <typename Condition>
  bool eventually(Condition condition, Duration limit = 10s) {
    const Deadline deadline(system_clock(), limit);
    while (!condition()) {
      if (deadline.passed()) return false;
      loop_.run_for(5ms);
    }
    return true;
  }

  // Spawns and waits for the end.
  model::ExitStatus run(const model::Command& command, const SpawnOptions& options = {}) {
    auto process = spawn(command, options);
    EXPECT_TRUE(process.has_value()) << process.error().text();
    std::optional<model::ExitStatus> status;
    const Watch watch(loop_, process.value(), [&](const model::ExitStatus& s) { status = s; });
    EXPECT_TRUE(eventually([&] { return status.has_value(); }));
    return status.value_or(model::ExitStatus{});
  }

  EventLoop loop_;
  std::filesystem::path folder_;
};

TEST_F(ProcessTest, exit_codes_and_signals_of_children_are_known) {
  EXPECT_EQ(run(shell("exit 3")), (model::ExitStatus{true, 3, 0}));
  EXPECT_EQ(run(shell("kill -9 $$")), (model::ExitStatus{true, 0, 9}));
  EXPECT_TRUE(run(shell("true")).clean());
}

TEST_F(ProcessTest, output_of_both_streams_is_appended_and_private) {
  const SpawnOptions options{folder_ / "log", {}};
  run(shell("echo one; echo two >&2"), options);
  run(shell("echo three"), options);
  EXPECT_EQ(content(folder_ / "log"), "one\ntwo\nthree\n");
  EXPECT_EQ(std::filesystem::status(folder_ / "log").permissions(), std::filesystem::perms(0600));
}

TEST_F(ProcessTest, environment_is_added_and_the_directory_is_obeyed) {
  model::Command command = shell("echo $COLOUR; pwd");
  command.env = {{"COLOUR", "blue"}};
  command.directory = folder_;
  run(command, {folder_ / "log", {}});
  EXPECT_EQ(content(folder_ / "log"), "blue\n" + folder_.string() + "\n");
}

TEST_F(ProcessTest, it_is_looked_up_on_the_commands_own_path) {
  std::ofstream(folder_ / "tool") << "#!/bin/sh\nexit 7\n";
  std::filesystem::permissions(folder_ / "tool", std::filesystem::perms(0700));
  EXPECT_EQ(run({{"tool"}, {{"PATH", folder_.string() + ":/bin:/usr/bin"}}, ""}).code, 7);
}

TEST_F(ProcessTest, a_program_or_directory_that_is_missing_is_named) {
  const auto missing = spawn({{"no-such-program"}, {}, ""}, {});
  ASSERT_TRUE(missing.has_error());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find("no-such-program"), std::string::npos);
  EXPECT_EQ(spawn({{"/no/such/program"}, {}, ""}, {}).error().code, ErrorCode::not_found);
  const auto directory = spawn({{"true"}, {}, "/no/such/folder"}, {});
  ASSERT_TRUE(directory.has_error());
  EXPECT_NE(directory.error().message.find("/no/such/folder"), std::string::npos);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left";
}

TEST_F(ProcessTest, it_leads_a_session_of_its_own_and_has_default_signals) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  run(shell("ps -o sid= -p $$ | tr -d ' '; echo $$; grep -E '^Sig(Blk|Ign)' /proc/$$/status | tr -d '\\t'"),
      {folder_ / "log", {}});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  std::istringstream lines(content(folder_ / "log"));
  std::string session, pid, block, ignore;
  lines >> session >> pid >> block >> ignore;
  EXPECT_EQ(session, pid);
  EXPECT_EQ(block, "SigBlk:0000000000000000");
  EXPECT_EQ(ignore, "SigIgn:0000000000000000");
}

TEST_F(ProcessTest, only_the_named_descriptors_are_inherited) {
  const int kept = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int other = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a library may open it
  run({{"ls", "/proc/self/fd"}, {}, ""}, {folder_ / "log", {kept}});
  std::set<int> open;
  std::istringstream lines(content(folder_ / "log"));
  for (int fd; lines >> fd;) open.insert(fd);
  EXPECT_TRUE(open.contains(kept));
  // ls itself opens one more, the folder it reads: the lowest number that was free.
  EXPECT_EQ(open.size(), 5U) << content(folder_ / "log");
  EXPECT_TRUE(open.contains(0) && open.contains(1) && open.contains(2));
  ::close(kept);
  ::close(other);
}

TEST_F(ProcessTest, none_of_300_children_is_lost) {
  std::vector<Watch> watches;
  std::vector<int> codes(300, -1);
  int ended = 0;
  for (int i = 0; i < 300; ++i) {
    auto process = spawn(shell("exit " + std::to_string(i % 100)), {});
    ASSERT_TRUE(process.has_value()) << process.error().text();
    watches.emplace_back(loop_, process.value(), [&codes, &ended, i](const model::ExitStatus& status) {
      EXPECT_EQ(codes[i], -1) << "told twice";
      codes[i] = status.code;
      ++ended;
    });
  }
  ASSERT_TRUE(eventually([&] { return ended == 300; }, 60s)) << ended;
  for (int i = 0; i < 300; ++i) EXPECT_EQ(codes[i], i % 100);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left";
}

TEST_F(ProcessTest, without_pidfds_the_end_is_noticed_too) {
  auto process = spawn(shell("exit 5"), {});
  std::optional<model::ExitStatus> status;
  const Watch watch(
      loop_, process.value(), [&](const model::ExitStatus& s) { status = s; }, WatchBy::polling);
  ASSERT_TRUE(eventually([&] { return status.has_value(); }));
  EXPECT_EQ(*status, (model::ExitStatus{true, 5, 0}));
}

// Starts a process whose parent (a shell) ends at once, as an agent that was killed leaves its services.
class AdoptedTest : public ProcessTest, public testing::WithParamInterface<WatchBy> {
 protected:
  model::ProcessIdentity orphan() {
    run(shell("sleep 300 & echo $!"), {folder_ / "pid", {}});
    return identify(std::stoi(content(folder_ / "pid"))).value();
  }
};

TEST_P(AdoptedTest, its_end_is_noticed_with_an_unknown_status) {
  const auto process = orphan();
  std::optional<model::ExitStatus> status;
  const Watch watch(
      loop_, process, [&](const model::ExitStatus& s) { status = s; }, GetParam());
  loop_.run_for(20ms);
  EXPECT_FALSE(status.has_value());
  EXPECT_TRUE(send_signal(process, SIGKILL));
  ASSERT_TRUE(eventually([&] { return status.has_value(); }));
  EXPECT_FALSE(status->known);
  EXPECT_FALSE(is_alive(process));
}

INSTANTIATE_TEST_SUITE_P(Both, AdoptedTest, testing::Values(WatchBy::pidfd, WatchBy::polling));

TEST_F(ProcessTest, a_reused_pid_counts_as_ended) {
  auto process = spawn({{"sleep", "300"}, {}, ""}, {});
  auto earlier = process.value();
  earlier.start_ticks -= 1;  // who had the number before
  std::optional<model::ExitStatus> status;
  const Watch watch(loop_, earlier, [&](const model::ExitStatus& s) { status = s; });
  ASSERT_TRUE(eventually([&] { return status.has_value(); }));
  EXPECT_FALSE(status->known);
  EXPECT_FALSE(send_signal(earlier, SIGKILL));
  EXPECT_FALSE(send_signal_to_group(earlier, SIGKILL));
  EXPECT_TRUE(is_alive(process.value()));
  EXPECT_TRUE(send_signal(process.value(), SIGKILL));
  ::waitpid(process.value().pid, nullptr, 0);
}

TEST_F(ProcessTest, a_destroyed_watch_is_silent_and_may_be_destroyed_by_its_own_callback) {
  auto process = spawn(shell("exit 0"), {});
  {
    const Watch watch(loop_, process.value(), [](const model::ExitStatus&) { FAIL(); });
  }
  loop_.run_for(50ms);
  std::optional<Watch> watch;
  bool called = false;
  watch.emplace(loop_, process.value(), [&](const model::ExitStatus&) {
    called = true;
    watch.reset();
  });
  EXPECT_TRUE(eventually([&] { return called; }));
}

}  // namespace
}  // namespace pilot::proc
