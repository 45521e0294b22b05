// A pilot whose head and node agents are objects of the test's process, talk over real sockets and run
// small real services.  Destroying an agent object is what kill -9 does to an agent: its services live on.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>

#include "pilot/agent/environment.hpp"
#include "pilot/agent/head_agent.hpp"
#include "pilot/agent/node_agent.hpp"
#include "pilot/agent/test_support.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/net/control_client.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/pilot_folder.hpp"
#include "tests/contract/agents/fake_adaptors.hpp"

namespace pilot::agent::test {

using model::PilotPhase;
using model::ServicePhase;

class AgentsFixture : public testing::Test {
 protected:
  AgentsFixture() {
    ::setenv("PILOT_HOME", home_.path().c_str(), 1);
    spec_.name = "demo";
    spec_.resource = "fakebatch";
    spec_.nodes = 2;
    spec_.ready_timeout = 30s;
    spec_.frameworks = {{"fake", {}, {}, {}}};
    registry_.add(std::make_unique<FakeFramework>());
    registry_.add(std::make_unique<FakeBatch>([this](int rank) {
      loop_.post([this, rank] {
        if (relaunch_ && !nodes_.contains(rank + 1)) start_node(rank + 1);
      });
    }));
  }

  ~AgentsFixture() override {
    nodes_.clear();
    head_.reset();
    const auto left = proc::processes_with_environment({{pilot_id_variable, id_}});
    EXPECT_EQ(left.size(), 0U) << "processes are left";
    for (const auto& process : left) proc::send_signal(process, SIGKILL);
  }

  void create() {
    folder_.emplace(store::PilotFolder::create("demo", spec_.nodes, false).value());
    auto log = store::EventLog::open(folder_->path(), system_clock());
    ASSERT_TRUE(log.has_value()) << log.error().text();
    ASSERT_TRUE(log.value().append(model::PilotCreated{id_, spec_, version_, "me", "here"}).has_value());
    ASSERT_TRUE(log.value().append(model::AllocationSubmitted{"a0", "job", spec_.nodes}).has_value());
  }

  void start_head() {
    HeadOptions options;
    options.pilot_dir = folder_->path();
    options.address = address_;
    options.timing.node_silence = std::max<Duration>(2s, silence_);
    options.timing.first_relaunch = 50ms;
    options.timing.lost_while_stopping = 3s;  // a silent node is lost, and called back, before it is given up
    options.tick = 20ms;
    head_code_.reset();
    head_ = std::make_unique<HeadAgent>(
        loop_, system_clock(), options, registry_,
        [](const std::string& framework) -> Result<plugin::Software> {
          plugin::Software software;
          software.framework = framework;
          software.version = "1.0";
          return software;
        },
        [this](int code) { head_code_ = code; });
  }

  void start_node(int number) {
    NodeOptions options;
    options.pilot_dir = folder_->path();
    options.allocation = "a0";
    options.rank = number - 1;
    options.node = "node-" + std::to_string(number);
    options.address = address_;
    options.scratch = home_.path() / "scratch" / options.node;
    options.timing.heartbeat = 50ms;
    options.timing.repeat = 200ms;
    options.timing.repeat_into_silence = 200ms;
    options.timing.look_around = 100ms;
    options.timing.link = {.first_looks = 10ms, .looks = 20ms, .silence = silence_, .renewal = 2s};
    if (number == 1 && !head_program_.empty()) {
      options.keep_head = true;
      options.agent_program = head_program_;
      options.timing.head_end = 1h;
    }
    auto agent =
        NodeAgent::begin(loop_, system_clock(), options, [this, number](int code) { codes_[number] = code; });
    ASSERT_TRUE(agent.has_value()) << agent.error().text();
    nodes_[number] = std::move(agent).value();
  }

  void boot() {
    create();
    start_head();
    for (int number = 1; number <= spec_.nodes; ++number) start_node(number);
    ASSERT_TRUE(reaches(PilotPhase::ready)) << explain();
  }

  // As the log says; only what is new is read.
  const model::PilotState& state() {
    auto fresh = store::read_event_log(folder_->path() / "events.jsonl", read_bytes_);
    if (fresh.has_value()) {
      for (const auto& event : fresh.value().events) {
        model::apply(state_, event);
        if (const auto* changed = std::get_if<model::PilotPhaseChanged>(&event.body))
          phases_.push_back(changed->phase);
      }
      read_bytes_ = fresh.value().complete_bytes;
    }
    return state_;
  }

  std::string explain() const {
    std::string text;
    if (auto content = store::read_event_log(folder_->path() / "events.jsonl"); content.has_value())
      for (const auto& event : content.value().events) text += model::describe(event.body) + "\n";
    return text;
  }

  template <typename Condition>
  bool eventually(Condition condition) {
    return test::eventually(loop_, condition);
  }
  // Enters the phase after the one that was reached last, however briefly: a repair may be over between
  // two looks at the log.
  bool reaches(PilotPhase phase) {
    return eventually([&] {
      (void)state();
      const auto found =
          std::find(phases_.begin() + static_cast<std::ptrdiff_t>(reached_), phases_.end(), phase);
      if (found == phases_.end()) return false;
      reached_ = static_cast<std::size_t>(found - phases_.begin());
      return true;
    });
  }

  model::ProcessIdentity process_of(const std::string& service) {
    const auto& current = state();
    const auto* found = current.service_state(service);
    return found == nullptr ? model::ProcessIdentity{} : found->process;
  }

  void ask_to_stop() {
    const auto head = folder_->keys("head").value();
    client_.emplace(loop_, folder_->endpoint().value().address, head.public_key,
                    folder_->keys("client").value(), [](const std::string&) {});
    client_->send(codec::encode(model::Message{"q", model::StopPilot{"the test said so"}}));
  }

  void expect_all_ended() {
    EXPECT_TRUE(eventually([&] {
      return head_code_ && codes_.size() == static_cast<std::size_t>(spec_.nodes);
    })) << explain();
    EXPECT_EQ(head_code_, 0);
    for (const auto& [number, code] : codes_) EXPECT_EQ(code, 0) << "node-" << number;
    EXPECT_TRUE(proc::processes_with_environment({{pilot_id_variable, id_}}).empty());
    for (int number = 1; number <= spec_.nodes; ++number) {
      const std::string node = "node-" + std::to_string(number);
      EXPECT_FALSE(std::filesystem::exists(home_.path() / "scratch" / node));
      EXPECT_FALSE(std::filesystem::exists(folder_->node_file(node)));
    }
  }

  void stop() {
    ask_to_stop();
    EXPECT_TRUE(reaches(PilotPhase::stopped)) << explain();
    expect_all_ended();
  }

  test::TemporaryFolder home_;
  std::string id_ = random_hex(16);
  // Of this process alone, for others look for free ports as well; and with its port no longer than a string
  // keeps in itself, for the thread sanitizer does not see how ZeroMQ's threads hand over what is on the
  // heap.
  const std::string address_ = "127." + std::to_string(2 + ::getpid() % 8) + "." +
                               std::to_string(::getpid() / 8 % 10) + "." +
                               std::to_string(1 + ::getpid() / 80 % 9);
  Duration silence_ = 300ms;  // then an agent looks for its head
  EventLoop loop_;
  model::PilotSpec spec_;
  plugin::Registry registry_;
  std::optional<store::PilotFolder> folder_;
  std::unique_ptr<HeadAgent> head_;
  std::map<int, std::unique_ptr<NodeAgent>> nodes_;
  std::optional<net::ControlClient> client_;
  model::PilotState state_;
  std::uint64_t read_bytes_ = 0;
  std::vector<PilotPhase> phases_;  // as they were entered
  std::size_t reached_ = 0;         // the one that reaches() found last
  std::string version_;             // of the program that started the pilot; empty: of any
  std::optional<int> head_code_;
  std::map<int, int> codes_;
  bool relaunch_ = true;
  std::filesystem::path head_program_;  // what node-1 starts as the head it keeps, beside the real one here
};

}  // namespace pilot::agent::test
