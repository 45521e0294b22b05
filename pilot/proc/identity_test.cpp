#include "pilot/proc/identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "pilot/base/clock.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/test_support.hpp"
#include "pilot/proc/command_run.hpp"
#include "pilot/proc/process.hpp"

namespace pilot::proc {
namespace {

using namespace std::chrono_literals;

using pilot::test::eventually;

TEST(Identity, of_ourselves) {
  const auto self = identify(::getpid());
  ASSERT_TRUE(self.has_value());
  EXPECT_TRUE(is_alive(*self));
  EXPECT_EQ(self->boot_id.size(), 36U);
  EXPECT_FALSE(identify(0).has_value());
  EXPECT_FALSE(is_alive({}));
}

TEST(Identity, another_boot_or_start_time_is_another_process) {
  auto other = *identify(::getpid());
  other.start_ticks += 1;
  EXPECT_FALSE(is_alive(other));
  other = *identify(::getpid());
  other.boot_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_FALSE(is_alive(other));
  EXPECT_FALSE(send_signal(other, 0));
}

TEST(Identity, a_zombie_does_not_run) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_TRUE(eventually([&] { return !identify(child).has_value(); }));
  ::waitpid(child, nullptr, 0);
}

TEST(Identity, a_program_with_a_confusing_name_is_read) {
  auto copied = run_command(
      {{"sh", "-c", "d=$(mktemp -d) && cp \"$(command -v sleep)\" \"$d/) S 1 (\" && echo $d"}, {}, ""}, 10s);
  std::string folder = copied.value().out;
  folder.pop_back();
  auto process = spawn({{folder + "/) S 1 (", "300"}, {}, ""}, {});
  ASSERT_TRUE(process.has_value()) << process.error().text();
  EXPECT_EQ(identify(process.value().pid), process.value());
  send_signal(process.value(), SIGKILL);
  ::waitpid(process.value().pid, nullptr, 0);
  std::filesystem::remove_all(folder);
}

TEST(Identity, what_left_its_group_is_found_by_its_environment) {
  const std::string id = random_hex(8);
  model::Command command{
      {"sh", "-c", "setsid sleep 300 & sleep 300"}, {{"PILOT_TEST_ID", id}, {"OTHER", "1"}}, ""};
  auto leader = spawn(command, {});
  const std::map<std::string, std::string> wanted{{"PILOT_TEST_ID", id}, {"OTHER", "1"}};
  const auto escaped = [&](const model::ProcessIdentity& process) {
    return ::getsid(process.pid) != leader.value().pid;
  };
  ASSERT_TRUE(eventually([&] {
    const auto found = processes_with_environment(wanted);
    return found.size() == 3 && std::ranges::count_if(found, escaped) == 1;
  }));
  EXPECT_TRUE(processes_with_environment({{"PILOT_TEST_ID", id}, {"OTHER", "2"}}).empty());
  EXPECT_TRUE(processes_with_environment({{"PILOT_TEST_ID", id.substr(1)}}).empty());
  EXPECT_TRUE(processes_with_environment({}).empty());

  EXPECT_TRUE(send_signal_to_group(leader.value(), SIGKILL));
  ASSERT_TRUE(eventually([&] { return processes_with_environment(wanted).size() == 1; }));
  EXPECT_TRUE(send_signal_to_group(leader.value(), 0)) << "a zombie leader still names its group";
  ::waitpid(leader.value().pid, nullptr, 0);
  EXPECT_FALSE(send_signal_to_group(leader.value(), SIGKILL));
  for (const auto& process : processes_with_environment(wanted)) EXPECT_TRUE(send_signal(process, SIGKILL));
  EXPECT_TRUE(eventually([&] { return processes_with_environment(wanted).empty(); }));
}

}  // namespace
}  // namespace pilot::proc
