#include "pilot/proc/command_run.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/test_support.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/test_support.hpp"

namespace pilot::proc {
namespace {

using namespace std::chrono_literals;
using proc::test::shell;

TEST(CommandRun, takes_both_streams_and_the_exit_code) {
  const auto result = run_command(shell("echo out; echo err >&2; exit 4"), 10s);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result.value().out, "out\n");
  EXPECT_EQ(result.value().err, "err\n");
  EXPECT_EQ(result.value().status.code, 4);
  EXPECT_FALSE(result.value().succeeded());
  EXPECT_EQ(result.value().complaint("tool"), "tool exited 4: err");
}

TEST(CommandRun, tells_lines_as_they_come) {
  EventLoop loop;
  std::vector<std::string> lines;
  std::optional<CommandResult> result;
  // The second line comes only once somebody has read the first.
  const auto folder = std::filesystem::temp_directory_path() / ("command-run-" + random_hex(6));
  ASSERT_TRUE(make_directory(folder).has_value());
  CommandRun run(
      loop,
      shell("echo one; until [ -e " + (folder / "go").string() + " ]; do :; done; printf 'two\\nno end'"),
      60s, [&](Result<CommandResult> ended) { result = std::move(ended).value(); });
  run.follow([&](std::string_view line) {
    lines.emplace_back(line);
    if (lines.size() == 1) std::ofstream(folder / "go") << "";
  });
  EXPECT_TRUE(pilot::test::eventually(loop, [&] { return result.has_value(); }));
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(result->out, "one\ntwo\nno end");
  (void)remove_tree(folder);
}

TEST(CommandRun, complains_in_the_words_that_there_are) {
  EXPECT_EQ(run_command(shell("echo only out; exit 1"), 10s).value().complaint("t"), "t exited 1: only out");
  EXPECT_EQ(run_command(shell("kill -9 $$"), 10s).value().complaint("t"), "t was killed by signal 9");
}

TEST(CommandRun, gives_input_of_any_size) {
  const std::string input(3'000'000, 'x');
  const auto result = run_command({{"wc", "-c"}, {}, ""}, 10s, input);
  EXPECT_EQ(std::stoi(result.value().out), 3'000'000);
  EXPECT_EQ(run_command({{"cat"}, {}, ""}, 10s).value().out, "");
}

TEST(CommandRun, keeps_at_most_a_mebibyte_and_lets_the_tool_finish) {
  const auto result = run_command(shell("head -c 5000000 /dev/zero; echo done >&2"), 30s);
  EXPECT_EQ(result.value().out.size(), 1U << 20);
  EXPECT_EQ(result.value().err, "done\n");
}

TEST(CommandRun, kills_the_group_after_the_time_limit) {
  const std::string id = random_hex(8);
  model::Command command = shell("echo begun; sleep 300 & sleep 300");
  command.env = {{"PILOT_TEST_ID", id}};
  const auto result = run_command(command, 3s);
  EXPECT_TRUE(result.value().timed_out);
  EXPECT_EQ(result.value().status.signal, 9);
  EXPECT_EQ(result.value().complaint("tool"), "tool did not end in time and was killed: begun");
  const Deadline deadline(system_clock(), 10s);
  while (!processes_with_environment({{"PILOT_TEST_ID", id}}).empty() && !deadline.passed()) {
  }
  EXPECT_TRUE(processes_with_environment({{"PILOT_TEST_ID", id}}).empty());
}

TEST(CommandRun, ends_with_the_tool_and_not_with_what_it_left_behind) {
  const auto daemon = run_command(shell("sleep 300 & echo $!"), 60s);
  EXPECT_FALSE(daemon.value().timed_out);
  const auto left = identify(std::stoi(daemon.value().out));
  ASSERT_TRUE(left.has_value());
  EXPECT_TRUE(send_signal(*left, SIGKILL));
}

TEST(CommandRun, a_missing_program_is_an_error) {
  const auto result = run_command({{"no-such-program"}, {}, ""}, 10s);
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
}

TEST(CommandRun, destroying_it_kills_and_reaps) {
  EventLoop loop;
  const std::string id = random_hex(8);
  model::Command command = shell("sleep 300 & sleep 300");
  command.env = {{"PILOT_TEST_ID", id}};
  std::optional<CommandRun> run;
  run.emplace(loop, command, 60s, [](const Result<CommandResult>&) { FAIL(); });
  loop.run_for(20ms);
  run.reset();
  const Deadline deadline(system_clock(), 10s);
  while (::waitpid(-1, nullptr, WNOHANG) != -1 && !deadline.passed()) loop.run_for(5ms);
  while (!processes_with_environment({{"PILOT_TEST_ID", id}}).empty() && !deadline.passed())
    loop.run_for(5ms);
  EXPECT_FALSE(deadline.passed());
}

// Its short sleeps: a signal to the group is lost on a child of a shell that has not put off the trap yet.
TEST(CommandRun, a_tool_that_is_asked_to_end_cleans_up_first) {
  EventLoop loop;
  std::optional<CommandResult> result;
  const auto tool = shell("trap 'echo cleaned up; exit 6' TERM; echo begun; while :; do sleep 0.05; done");
  CommandRun run(loop, tool, 60s, [&](Result<CommandResult> ended) {
    result.emplace(std::move(ended).value());
    loop.stop();
  });
  run.follow([&](std::string_view line) {
    if (line == "begun") run.ask_to_end();
  });
  loop.run();
  EXPECT_EQ(result->status.code, 6);
  EXPECT_EQ(result->out, "begun\ncleaned up\n");
}

TEST(CommandRun, its_callback_may_destroy_it) {
  EventLoop loop;
  std::optional<CommandRun> run;
  bool called = false;
  run.emplace(loop, shell("true"), 10s, [&](const Result<CommandResult>&) {
    called = true;
    run.reset();
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace pilot::proc
