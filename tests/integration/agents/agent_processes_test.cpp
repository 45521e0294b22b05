// Agents as processes: what dies comes back, what is stopped is gone, and what is idle is small.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <ranges>
#include <string>
#include <thread>

#include "adaptors/batch/local/local_adaptor.hpp"
#include "pilot/base/random.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/net/control_client.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot {
namespace {

using namespace std::chrono_literals;
using model::PilotPhase;

// Processor time of all threads of a process so far.
Duration cpu_time(pid_t pid) {
  Duration total{0};
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    long long nanoseconds = 0;
    std::ifstream(task.path() / "schedstat") >> nanoseconds;
    total += Duration{nanoseconds};
  }
  return total;
}

long resident_kilobytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    long kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes;
  }
  return -1;
}

class AgentProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pilot-agents-XXXXXX";
    home_ = ::mkdtemp(name);
    ::setenv("PILOT_HOME", home_.c_str(), 1);
    ::setenv("TMPDIR", home_.c_str(), 1);
    request_.pilot_id = random_hex(16);
    request_.allocation = "a0";
    request_.nodes = 3;
    request_.spec.name = "demo";
    request_.spec.nodes = 3;
    request_.agent_program = PILOT_BINARY_DIR "/bin/pilot-agent";
    folder_.emplace(store::PilotFolder::create("demo", 3, false).value());
    request_.pilot_dir = folder_->path();
    auto log = store::EventLog::open(folder_->path(), system_clock());
    ASSERT_TRUE(log.has_value()) << log.error().text();
    ASSERT_TRUE(
        log.value().append(model::PilotCreated{request_.pilot_id, request_.spec, "", "", ""}).has_value());
    auto job = adaptor_.submit(request_);
    ASSERT_TRUE(job.has_value()) << job.error().text();
    job_ = job.value();
    ASSERT_TRUE(log.value().append(model::AllocationSubmitted{"a0", job_, 3}).has_value());
  }

  void TearDown() override {
    if (!job_.empty()) {
      EXPECT_TRUE(adaptor_.cancel(request_, job_).has_value());
    }
    EXPECT_TRUE(eventually([&] { return agents().empty(); })) << "agents are left";
    for (const auto& process : agents()) proc::send_signal(process, SIGKILL);
    std::filesystem::remove_all(home_);
  }

  // Also reaps: the agents that the adaptor started are our children.
  template <typename Condition>
  bool eventually(Condition condition, Duration limit = 90s) {
    const Deadline deadline(system_clock(), limit);
    while (!condition()) {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(10ms);
    }
    return true;
  }

  std::vector<model::ProcessIdentity> agents() const {
    return proc::processes_with_environment({{"PILOT_AGENT_OF", request_.pilot_id}});
  }

  model::PilotState state() const {
    auto content = store::read_event_log(folder_->path() / "events.jsonl");
    return content.has_value() ? model::fold(content.value().events) : model::PilotState{};
  }

  bool is_ready() {
    return eventually([&] { return state().phase == PilotPhase::ready; });
  }

  Result<model::MessageBody> ask(model::MessageBody body) {
    PILOT_TRY(const auto endpoint, folder_->endpoint());
    PILOT_TRY(const auto head, folder_->keys("head"));
    PILOT_TRY(const auto own, folder_->keys("client"));
    PILOT_TRY(const auto text, net::ask(endpoint.address, head.public_key, own,
                                        codec::encode(model::Message{"q", std::move(body)}), 30s));
    PILOT_TRY(auto answer, codec::decode_message(text));
    return std::move(answer.body);
  }

  std::filesystem::path home_;
  adaptors::local::LocalAdaptor adaptor_;
  plugin::AllocationRequest request_;
  std::optional<store::PilotFolder> folder_;
  std::string job_;
};

TEST_F(AgentProcessesTest, a_killed_head_is_started_again_by_the_first_node) {
  ASSERT_TRUE(is_ready());
  const auto before = state();
  ASSERT_TRUE(proc::send_signal(before.head->process, SIGKILL));
  ASSERT_TRUE(eventually([&] { return state().head->start == 2; }));
  EXPECT_EQ(state().head->endpoint, before.head->endpoint);
  const auto answer = ask(model::GetStatus{});
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_EQ(std::get<model::Status>(answer.value()).state.phase, PilotPhase::ready);
  for (const auto& [id, node] : before.nodes) EXPECT_TRUE(proc::is_alive(node.info.agent)) << id;
}

TEST_F(AgentProcessesTest, a_killed_node_agent_is_started_again_by_the_head) {
  ASSERT_TRUE(is_ready());
  const auto killed = state().nodes.at("node-2").info.agent;
  ASSERT_TRUE(proc::send_signal(killed, SIGKILL));
  ASSERT_TRUE(eventually([&] {
    const auto now = state();
    return now.phase == PilotPhase::ready && now.nodes.at("node-2").info.agent != killed;
  }));
}

TEST_F(AgentProcessesTest, the_first_node_agent_killed_with_its_head_comes_back_when_somebody_asks) {
  ASSERT_TRUE(is_ready());
  const auto before = state();
  ASSERT_TRUE(proc::send_signal(before.nodes.at("node-1").info.agent, SIGKILL));
  ASSERT_TRUE(proc::send_signal(before.head->process, SIGKILL));
  ASSERT_TRUE(eventually([&] {
    return !proc::is_alive(before.head->process) && !proc::is_alive(before.nodes.at("node-1").info.agent);
  }));
  const auto launched = adaptor_.launch_agent(request_, job_, 0);  // as any pilot command does
  ASSERT_TRUE(launched.has_value()) << launched.error().text();
  ASSERT_TRUE(eventually([&] {
    const auto now = state();
    return now.head->start == 2 && now.phase == PilotPhase::ready &&
           now.nodes.at("node-1").info.agent != before.nodes.at("node-1").info.agent;
  }));
  EXPECT_EQ(state().nodes.at("node-3").info.agent, before.nodes.at("node-3").info.agent);
}

TEST_F(AgentProcessesTest, when_the_node_of_the_head_is_gone_the_next_one_keeps_a_head) {
  ASSERT_TRUE(is_ready());
  const auto before = state();
  ASSERT_EQ(before.head->node, "node-1");
  ASSERT_TRUE(proc::send_signal(before.nodes.at("node-1").info.agent, SIGKILL));
  ASSERT_TRUE(proc::send_signal(before.head->process, SIGKILL));
  ASSERT_TRUE(eventually([&] { return state().head->node != "node-1"; }));
  const auto keeper = state().head->node;  // node-2, unless that was too busy
  // It starts the first one's agent again, which is then a node like any other.
  ASSERT_TRUE(eventually([&] {
    const auto now = state();
    return now.phase == PilotPhase::ready &&
           now.nodes.at("node-1").info.agent != before.nodes.at("node-1").info.agent;
  }));
  EXPECT_EQ(state().head->start, 2);
  ASSERT_TRUE(eventually([&] { return agents().size() == 4; })) << "three node agents and the head";
  const auto second = state().head->process;
  ASSERT_TRUE(proc::send_signal(second, SIGKILL));
  ASSERT_TRUE(eventually([&] { return state().head->process != second; }));
  EXPECT_EQ(state().head->node, keeper);
}

TEST_F(AgentProcessesTest, a_first_node_agent_that_was_killed_alone_takes_over_the_head_that_runs) {
  ASSERT_TRUE(is_ready());
  const auto before = state();
  ASSERT_TRUE(proc::send_signal(before.nodes.at("node-1").info.agent, SIGKILL));
  ASSERT_TRUE(eventually([&] {
    const auto now = state();
    return now.phase == PilotPhase::ready &&
           now.nodes.at("node-1").info.agent != before.nodes.at("node-1").info.agent;
  }));
  EXPECT_EQ(state().head->process, before.head->process);
  ASSERT_TRUE(proc::send_signal(before.head->process, SIGKILL));
  EXPECT_TRUE(eventually([&] { return state().head->start == 2; })) << "the head is not watched any more";
}

TEST_F(AgentProcessesTest, stopping_ends_every_process_and_removes_every_scratch_folder) {
  ASSERT_TRUE(is_ready());
  const auto before = state();
  const auto answer = ask(model::StopPilot{"the test said so"});
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_TRUE(std::holds_alternative<model::Accepted>(answer.value()));
  ASSERT_TRUE(eventually([&] { return agents().empty(); }));
  EXPECT_EQ(state().phase, PilotPhase::stopped);
  for (const auto& [id, node] : before.nodes) EXPECT_FALSE(std::filesystem::exists(node.info.scratch)) << id;
  EXPECT_TRUE(std::filesystem::is_empty(folder_->path() / "nodes"));
}

// Weeks of what they say, and nobody who removes it.
TEST_F(AgentProcessesTest, logs_of_agents_that_have_grown_long_are_cut) {
  ASSERT_TRUE(is_ready());
  constexpr std::uintmax_t long_log = 40 << 20, limit = 32 << 20;
  const auto log_of = [&](const std::string& who) { return folder_->log_folder() / (who + ".log"); };
  for (const char* who : {"head", "node-2"}) std::filesystem::resize_file(log_of(who), long_log);
  for (const char* who : {"head", "node-2"}) {
    const auto before = log_of(who).string() + ".1";
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(before); })) << who;
    EXPECT_EQ(std::filesystem::file_size(before), limit) << who;
    EXPECT_LT(std::filesystem::file_size(log_of(who)), limit) << who;
  }
}

// Other work of the machine makes a moment look busier than it is: the quietest of some counts.
TEST_F(AgentProcessesTest, idle_agents_are_small_and_quiet) {
  ASSERT_TRUE(is_ready());
  constexpr Duration window = 4s;  // of measurement
  constexpr double most = 0.01;    // of a core
  std::map<pid_t, double> shares;
  for (const auto& process : agents()) shares[process.pid] = 1;
  ASSERT_EQ(shares.size(), 4U) << "three node agents and the head";
  const auto too_busy = [&] {
    return std::ranges::any_of(std::views::values(shares), [](double s) { return s > most; });
  };
  for (int windows = 0; windows < 5 && too_busy(); ++windows) {
    std::map<pid_t, Duration> before;
    for (const auto& [pid, share] : shares) before[pid] = cpu_time(pid);
    std::this_thread::sleep_for(window);
    for (auto& [pid, share] : shares)
      share = std::min(share, std::chrono::duration<double>(cpu_time(pid) - before[pid]) / window);
  }
  for (const auto& [pid, share] : shares) {
    RecordProperty("percent_of_a_core_" + std::to_string(pid), std::to_string(100 * share));
    RecordProperty("resident_kb_" + std::to_string(pid), std::to_string(resident_kilobytes(pid)));
    EXPECT_LE(share, most) << pid;
    EXPECT_LE(resident_kilobytes(pid), 20 * 1024) << pid;
    EXPECT_GT(resident_kilobytes(pid), 0) << pid;
  }
}

}  // namespace
}  // namespace pilot
