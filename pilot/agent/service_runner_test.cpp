#include "pilot/agent/service_runner.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "pilot/agent/test_support.hpp"
#include "pilot/base/random.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"
#include "pilot/proc/test_support.hpp"

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;
using model::ServicePhase;
using proc::test::shell;
using test::content;

class ServiceRunnerTest : public testing::Test {
 protected:
  ServiceRunnerTest() {
    context_.environment = service_environment(random_hex(8), "node-1", "test/service");
    context_.directory = folder_.path();
    context_.fill_in = [](std::string_view text) -> Result<std::string> {
      std::string result(text);
      if (const auto at = result.find("${secret:x}"); at != std::string::npos)
        result.replace(at, 11, "open sesame");
      if (result.find("${unknown}") != std::string::npos)
        return make_error(ErrorCode::not_found, "no '${unknown}'");
      return result;
    };
    record_.spec.id = "test/service";
    record_.spec.log = folder_.path() / "logs" / "service.log";
    record_.spec.command = shell("exec sleep 300");
    record_.spec.ready.interval = 10ms;
    record_.spec.ready.deadline = 10s;
    record_.spec.stop.grace = 10s;
    record_.spec.restart = {
        .max_restarts = 3, .window = 10min, .first_backoff = 20ms, .longest_backoff = 100ms};
  }

  ~ServiceRunnerTest() override {
    runner_.reset();
    for (const auto& process : left()) {
      ADD_FAILURE() << "process " << process.pid << " is left";
      proc::send_signal(process, SIGKILL);
    }
  }

  std::vector<model::ProcessIdentity> left() const {
    return proc::processes_with_environment(context_.environment);
  }

  ServiceRunner& runner() {
    if (!runner_)
      runner_.emplace(loop_, system_clock(), record_, context_, [this] {
        if (!runner_) return;
        const auto& now = runner_->record();
        if (phases_.empty() || phases_.back() != now.phase) phases_.push_back(now.phase);
        if (now.phase == ServicePhase::waiting) ended_by_ = now.reason;
      });
    return *runner_;
  }

  // As a kill -9 of the agent: the runner goes, the service stays; another one takes it up.
  void restart_agent() {
    record_ = runner_->record();
    runner_.reset();
    runner().resume();
  }

  bool reaches(ServicePhase phase) {
    return test::eventually(loop_, [&] { return runner().record().phase == phase; });
  }

  // It has ended and is ready again; that it waited may be over between two looks.
  bool comes_back() {
    return test::eventually(
        loop_, [&] { return !ended_by_.empty() && runner().record().phase == ServicePhase::ready; });
  }

  void stop() {
    runner().stop();
    EXPECT_TRUE(reaches(ServicePhase::stopped));
  }

  test::TemporaryFolder folder_;
  EventLoop loop_;
  ServiceRecord record_;
  ServiceContext context_;
  std::optional<ServiceRunner> runner_;
  std::vector<ServicePhase> phases_;
  std::string ended_by_;  // what was said when it waited last
};

TEST_F(ServiceRunnerTest, goes_up_and_down) {
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_TRUE(proc::is_alive(runner().record().process));
  EXPECT_EQ(runner().record().report().process, runner().record().process);
  runner().start();  // already there
  stop();
  using enum ServicePhase;
  EXPECT_EQ(phases_, (std::vector{preparing, starting, ready, stopping, stopped}));
  EXPECT_EQ(runner().record().report().process, model::ProcessIdentity{});
}

TEST_F(ServiceRunnerTest, makes_folders_and_files_with_their_modes_and_fills_in_secrets) {
  record_.spec.directories = {folder_.path() / "data" / "a"};
  record_.spec.files = {{folder_.path() / "data" / "a" / "conf", "password=${secret:x}\n", 0600}};
  record_.spec.command = shell("cat data/a/conf; echo $0; exec sleep 300");
  record_.spec.command.argv.push_back("${secret:x}");
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_EQ(content(folder_.path() / "data" / "a" / "conf"), "password=open sesame\n");
  EXPECT_TRUE(test::eventually(
      loop_, [&] { return content(record_.spec.log) == "password=open sesame\nopen sesame\n"; }));
  EXPECT_EQ(std::filesystem::status(folder_.path() / "data" / "a").permissions(),
            std::filesystem::perms(0700));
  EXPECT_EQ(std::filesystem::status(folder_.path() / "data" / "a" / "conf").permissions(),
            std::filesystem::perms(0600));
  stop();
}

TEST_F(ServiceRunnerTest, an_unknown_placeholder_fails_it_at_once) {
  record_.spec.files = {{folder_.path() / "conf", "${unknown}", 0600}};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::failed));
  EXPECT_NE(runner().record().reason.find("no '${unknown}'"), std::string::npos) << runner().record().reason;
}

TEST_F(ServiceRunnerTest, runs_the_prepare_steps_in_order_and_skips_what_is_there) {
  record_.spec.prepare = {{shell("echo one >> steps"), "", 10s},
                          {shell("echo skipped >> steps"), folder_.path() / "steps", 10s},
                          {shell("echo two >> steps"), folder_.path() / "other", 10s}};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_EQ(content(folder_.path() / "steps"), "one\ntwo\n");
  stop();
}

TEST_F(ServiceRunnerTest, a_failing_prepare_step_fails_it_with_the_tools_words) {
  record_.spec.prepare = {{shell("echo cannot format the disk >&2; exit 3"), "", 10s}};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::failed));
  EXPECT_EQ(runner().record().reason, "preparing: sh exited 3: cannot format the disk");
}

TEST_F(ServiceRunnerTest, is_ready_when_its_port_answers) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  record_.spec.ready.probe = model::TcpProbe{"127.0.0.1", ntohs(address.sin_port)};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::starting));
  loop_.run_for(50ms);
  EXPECT_EQ(runner().record().phase, ServicePhase::starting);
  ASSERT_EQ(::listen(listener, 5), 0);
  EXPECT_TRUE(reaches(ServicePhase::ready));
  stop();
  ::close(listener);
}

TEST_F(ServiceRunnerTest, is_ready_when_its_probe_command_says_so) {
  record_.spec.ready.probe = model::CommandProbe{shell("test -e ready"), 10s};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::starting));
  loop_.run_for(50ms);
  EXPECT_EQ(runner().record().phase, ServicePhase::starting);
  std::ofstream(folder_.path() / "ready");
  EXPECT_TRUE(reaches(ServicePhase::ready));
  stop();
}

TEST_F(ServiceRunnerTest, that_never_becomes_ready_is_stopped_and_failed_with_the_cause_and_its_log) {
  record_.spec.command = shell("echo waiting for nobody; exec sleep 300");
  record_.spec.ready.probe = model::CommandProbe{shell("echo no leader yet >&2; exit 1"), 10s};
  record_.spec.ready.deadline = 3s;
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::failed));
  EXPECT_EQ(runner().record().reason, "not ready after 3s: sh exited 1: no leader yet");
  EXPECT_EQ(runner().record().log_tail, "waiting for nobody");
  EXPECT_TRUE(left().empty());
}

TEST_F(ServiceRunnerTest, whose_first_start_is_stuck_is_started_once_more) {
  record_.spec.command = shell("echo run >> runs; exec sleep 300");
  record_.spec.ready.probe =
      model::CommandProbe{shell("echo no leader yet >&2; test $(wc -l < runs) -ge 2"), 10s};
  record_.spec.ready.deadline = 10s;
  record_.spec.ready.first_deadline = 3s;
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_EQ(content(folder_.path() / "runs"), "run\nrun\n");
  EXPECT_EQ(runner().record().report().restarts, 1);
  stop();
}

TEST_F(ServiceRunnerTest, an_unexpected_end_is_repaired_at_most_so_often) {
  record_.spec.command = shell("echo run >> runs; echo last words; exit 3");
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::failed));
  EXPECT_EQ(content(folder_.path() / "runs"), "run\nrun\nrun\nrun\n");  // and three restarts
  EXPECT_EQ(runner().record().reason, "exit code 3; started again 3 times within 10m00s");
  EXPECT_NE(runner().record().log_tail.find("last words"), std::string::npos);
  EXPECT_EQ(runner().record().report().restarts, 3);
}

TEST_F(ServiceRunnerTest, restarts_outside_the_window_do_not_count) {
  record_.spec.command = shell("echo run >> runs; test $(wc -l < runs) -ge 8 && exec sleep 300; sleep 0.05");
  record_.spec.restart.window = 100ms;
  runner().start();
  EXPECT_TRUE(test::eventually(loop_, [&] { return content(folder_.path() / "runs").size() == 8 * 4; }));
  ASSERT_TRUE(reaches(ServicePhase::ready));
  stop();
}

TEST_F(ServiceRunnerTest, kill_9_of_the_service_starts_another_and_says_why) {
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  const auto first = runner().record().process;
  proc::send_signal(first, SIGKILL);
  ASSERT_TRUE(comes_back());
  EXPECT_EQ(ended_by_, "killed by signal 9; starting again in 20ms");
  EXPECT_NE(runner().record().process, first);
  stop();
}

TEST_F(ServiceRunnerTest, what_ignores_its_stop_signal_is_killed_after_the_grace) {
  record_.spec.command = shell("trap '' TERM; echo ready > up; while :; do sleep 0.05; done");
  record_.spec.ready.probe = model::CommandProbe{shell("test -e up"), 10s};
  record_.spec.stop.grace = 200ms;
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  stop();
}

TEST_F(ServiceRunnerTest, stopping_ends_what_it_started_even_in_other_sessions) {
  record_.spec.command = shell("setsid sleep 300 & sleep 300 & echo up > up; exec sleep 300");
  record_.spec.ready.probe = model::CommandProbe{shell("test -e up"), 10s};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_TRUE(test::eventually(loop_, [&] { return left().size() == 3; }));
  stop();
  EXPECT_TRUE(left().empty());
}

TEST_F(ServiceRunnerTest, can_be_stopped_in_every_phase) {
  runner().stop();
  EXPECT_EQ(runner().record().phase, ServicePhase::stopped);  // from planned

  runner_.reset();
  record_.spec.prepare = {{{{"sleep", "300"}, {}, ""}, "", 300s}};
  runner().start();
  EXPECT_TRUE(test::eventually(loop_, [&] { return left().size() == 1; }));
  stop();  // from preparing
  EXPECT_TRUE(left().empty());

  runner_.reset();
  record_.spec.prepare.clear();
  record_.spec.ready.probe = model::CommandProbe{shell("false"), 10s};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::starting));
  stop();  // from starting

  runner_.reset();
  record_.spec.command = shell("exit 1");
  record_.spec.restart.first_backoff = 300s;
  record_.spec.restart.longest_backoff = 300s;
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::waiting));
  stop();  // from waiting
}

TEST_F(ServiceRunnerTest, a_ready_service_is_taken_up_after_the_agent_was_killed) {
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  const auto process = runner().record().process;
  restart_agent();
  loop_.run_for(50ms);
  EXPECT_EQ(runner().record().phase, ServicePhase::ready);
  EXPECT_EQ(runner().record().process, process);
  stop();
  EXPECT_FALSE(proc::is_alive(process));
}

TEST_F(ServiceRunnerTest, a_service_that_was_starting_is_probed_on) {
  record_.spec.ready.probe = model::CommandProbe{shell("test -e ready"), 10s};
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::starting));
  const auto process = runner().record().process;
  restart_agent();
  std::ofstream(folder_.path() / "ready");
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_EQ(runner().record().process, process);
  stop();
}

TEST_F(ServiceRunnerTest, a_service_that_ended_meanwhile_is_started_again) {
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  const auto process = runner().record().process;
  record_ = runner_->record();
  runner_.reset();
  proc::send_signal(process, SIGKILL);
  ::waitpid(process.pid, nullptr, 0);  // as init does for a killed agent's children
  runner().resume();
  ASSERT_TRUE(comes_back());
  EXPECT_NE(ended_by_.find("not known"), std::string::npos) << ended_by_;
  stop();
}

TEST_F(ServiceRunnerTest, a_process_of_an_earlier_boot_counts_as_gone) {
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  stop();
  record_ = runner_->record();
  record_.phase = ServicePhase::ready;
  record_.process = {::getpid(), proc::identify(::getpid())->start_ticks, "another-boot"};
  runner_.reset();
  runner().resume();
  ASSERT_TRUE(comes_back());
  stop();
}

TEST_F(ServiceRunnerTest, a_start_that_was_never_recorded_is_swept_before_the_next) {
  model::Command orphan{{"sleep", "300"}, context_.environment, ""};
  const auto process = proc::spawn(orphan, {});
  record_.phase = ServicePhase::preparing;
  runner().resume();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_FALSE(proc::is_alive(process.value()));
  ::waitpid(process.value().pid, nullptr, 0);
  EXPECT_EQ(left().size(), 1U);
  stop();
}

TEST_F(ServiceRunnerTest, stopping_goes_on_after_the_agent_was_killed) {
  record_.spec.command = shell("trap '' TERM; echo up > up; while :; do sleep 0.05; done");
  record_.spec.ready.probe = model::CommandProbe{shell("test -e up"), 10s};
  record_.spec.stop.grace = 300ms;
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  runner().stop();
  ASSERT_EQ(runner().record().phase, ServicePhase::stopping);
  restart_agent();
  EXPECT_TRUE(reaches(ServicePhase::stopped));
}

TEST_F(ServiceRunnerTest, a_process_that_somebody_else_started_is_taken_over) {
  const auto running = proc::spawn({{"sleep", "300"}, {}, ""}, {});
  context_.find_running = [&]() -> std::optional<model::ProcessIdentity> {
    if (!proc::is_alive(running.value())) return std::nullopt;
    return running.value();
  };
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::ready));
  EXPECT_EQ(runner().record().process, running.value());
  proc::send_signal(running.value(), SIGKILL);
  ASSERT_TRUE(comes_back());
  EXPECT_NE(runner().record().process, running.value());
  stop();
}

TEST_F(ServiceRunnerTest, a_clean_end_is_left_alone_where_that_is_wanted) {
  record_.spec.command = shell("exit 0");
  context_.restart_wanted = [](const model::ExitStatus& status) { return !status.clean(); };
  runner().start();
  ASSERT_TRUE(reaches(ServicePhase::stopped));
  EXPECT_EQ(runner().record().restarts.size(), 0U);
}

}  // namespace
}  // namespace pilot::agent
