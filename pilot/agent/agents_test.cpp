// Head and node agents together, in one process and over real sockets, with small real services.
// Destroying an agent object is what kill -9 does to an agent: its services live on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
#include "pilot/net/control_server.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;
using model::PilotPhase;
using model::ServicePhase;
using test::content;
using testing::HasSubstr;

// One controller on the first node, then a worker on each.  A worker fails when "fail" is set to its id.
class FakeFramework : public plugin::FrameworkAdaptor {
 public:
  std::string_view name() const override { return "fake"; }
  std::string_view summary() const override { return "processes that sleep"; }
  std::vector<plugin::OptionDoc> options() const override { return {}; }
  Result<void> check(const model::FrameworkSpec&, const model::PilotSpec&) const override { return ok(); }
  plugin::InstallRecipe install_recipe() const override { return {}; }
  std::string_view home_variable() const override { return "FAKE_HOME"; }
  Result<plugin::Software> inspect(const std::filesystem::path&, const std::filesystem::path&,
                                   int) const override {
    return plugin::Software{};
  }

  Result<model::ClusterPlan> plan(const plugin::PlanInput& input) const override {
    model::ClusterPlan plan;
    plan.framework = "fake";
    plan.version = input.software.version;
    plan.services.push_back(service(input, "fake/controller", input.nodes.front(), 0));
    for (const auto& node : input.nodes)
      plan.services.push_back(service(input, "fake/worker-" + node.id, node, 1));
    model::Command probe{{"test", "-e", input.nodes.front().scratch + "/fake/controller/up"}, {}, ""};
    plan.ready.probe = model::CommandProbe{probe, 5s};
    plan.ready.interval = 20ms;
    plan.client_files = {{input.client_folder / "fake.properties", "password=${secret:fake}", 0600}};
    return plan;
  }

 private:
  static model::ServiceSpec service(const plugin::PlanInput& input, const std::string& id,
                                    const model::NodeInfo& node, int stage) {
    const std::string folder = node.scratch + "/" + id;
    model::ServiceSpec spec;
    spec.id = id;
    spec.node = node.id;
    spec.stage = stage;
    spec.directories = {folder};
    spec.files = {{folder + "/secret", "${secret:fake}", 0600}};
    spec.command = {{"sh", "-c", "touch up; exec sleep 300"}, {}, folder};
    if (const auto fail = input.framework.options.find("fail");
        fail != input.framework.options.end() && fail->second == id)
      spec.command.argv[2] = "echo the disk is on fire; exit 3";
    spec.log = input.log_folder / (id + ".log");
    spec.ready.probe = model::CommandProbe{{{"test", "-e", folder + "/up"}, {}, ""}, 5s};
    spec.ready.interval = 20ms;
    spec.stop.grace = 5s;
    spec.restart.first_backoff = 20ms;
    spec.restart.max_restarts = 2;
    return spec;
  }
};

class FakeBatch : public plugin::BatchAdaptor {
 public:
  explicit FakeBatch(std::function<void(int)> on_launch) : on_launch_(std::move(on_launch)) {}
  std::string_view name() const override { return "fakebatch"; }
  std::string_view summary() const override { return ""; }
  std::vector<plugin::OptionDoc> options() const override { return {}; }
  Result<void> check(const model::PilotSpec&) const override { return ok(); }
  Result<std::string> render(const plugin::AllocationRequest&) const override { return std::string(); }
  Result<std::string> submit(const plugin::AllocationRequest&) override { return std::string("job"); }
  Result<std::vector<plugin::AllocationStatus>> poll(const plugin::AllocationRequest&,
                                                     const std::vector<std::string>&) override {
    return std::vector<plugin::AllocationStatus>{};
  }
  Result<void> cancel(const plugin::AllocationRequest&, const std::string&) override { return ok(); }
  Result<void> launch_agent(const plugin::AllocationRequest&, const std::string&, int rank) override {
    on_launch_(rank);  // from a thread of the head
    return ok();
  }

 private:
  std::function<void(int)> on_launch_;
};

class AgentsTest : public testing::Test {
 protected:
  AgentsTest() {
    ::setenv("PILOT_HOME", home_.path().c_str(), 1);
    spec_.name = "demo";
    spec_.resource = "fakebatch";
    spec_.nodes = 2;
    spec_.ready_timeout = 30s;
    spec_.frameworks = {{"fake", {}, {}}};
    registry_.add(std::make_unique<FakeFramework>());
    registry_.add(std::make_unique<FakeBatch>([this](int rank) {
      loop_.post([this, rank] {
        if (relaunch_) start_node(rank + 1);
      });
    }));
  }

  ~AgentsTest() override {
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
    ASSERT_TRUE(log.value().append(model::PilotCreated{id_, spec_, "0.1", "me", "here"}).has_value());
    ASSERT_TRUE(log.value().append(model::AllocationSubmitted{"a0", "job", spec_.nodes}).has_value());
  }

  void start_head() {
    HeadOptions options;
    options.pilot_dir = folder_->path();
    options.timing.node_silence = 500ms;
    options.timing.first_relaunch = 50ms;
    options.timing.lost_while_stopping = 2s;
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
    options.address = "127.0.0.1";
    options.scratch = home_.path() / "scratch" / options.node;
    options.timing.heartbeat = 50ms;
    options.timing.repeat = 200ms;
    options.timing.repeat_into_silence = 200ms;
    options.timing.look_around = 100ms;
    options.timing.link = {.first_looks = 10ms, .looks = 20ms, .silence = 300ms, .renewal = 2s};
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

  model::PilotState state() const {
    auto content = store::read_event_log(folder_->path() / "events.jsonl");
    return content.has_value() ? model::fold(content.value().events) : model::PilotState{};
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
  bool reaches(PilotPhase phase) {
    return eventually([&] { return state().phase == phase; });
  }

  model::ProcessIdentity process_of(const std::string& service) const {
    const auto current = state();
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
  EventLoop loop_;
  model::PilotSpec spec_;
  plugin::Registry registry_;
  std::optional<store::PilotFolder> folder_;
  std::unique_ptr<HeadAgent> head_;
  std::map<int, std::unique_ptr<NodeAgent>> nodes_;
  std::optional<net::ControlClient> client_;
  std::optional<int> head_code_;
  std::map<int, int> codes_;
  bool relaunch_ = true;
};

TEST_F(AgentsTest, a_pilot_boots_and_stops_and_leaves_nothing) {
  boot();
  const auto at_work = state();
  EXPECT_EQ(at_work.clusters.at("fake").services.size(), 3U);
  EXPECT_EQ(at_work.clusters.at("fake").plan.version, "1.0");
  const std::string properties = content(folder_->client_folder() / "fake.properties");
  const std::string secret = content(home_.path() / "scratch/node-2/fake/worker-node-2/secret");
  EXPECT_EQ(secret.size(), 64U);
  EXPECT_EQ(properties, "password=" + secret);
  EXPECT_EQ(std::filesystem::status(folder_->client_folder() / "fake.properties").permissions(),
            std::filesystem::perms(0600));
  EXPECT_EQ(explain().find(secret), std::string::npos) << "a secret is in the log";
  EXPECT_EQ(content(folder_->node_file("node-2")).find(secret), std::string::npos)
      << "a secret is in the record";
  stop();
}

TEST_F(AgentsTest, killing_the_head_stops_no_service_and_it_takes_them_over_again) {
  boot();
  const auto worker = process_of("fake/worker-node-2");
  head_.reset();
  loop_.run_for(400ms);  // the node agents notice that nobody answers
  EXPECT_TRUE(proc::is_alive(worker));
  start_head();
  ASSERT_TRUE(eventually([&] { return state().head->start == 2; }));
  ASSERT_TRUE(reaches(PilotPhase::ready));
  EXPECT_EQ(process_of("fake/worker-node-2"), worker);
  stop();
}

TEST_F(AgentsTest, what_happens_without_a_head_is_in_the_log_when_it_is_back) {
  boot();
  const auto worker = process_of("fake/worker-node-1");
  head_.reset();
  proc::send_signal(worker, SIGKILL);
  const std::string record = folder_->node_file("node-1");
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(worker); }));
  ASSERT_TRUE(eventually([&] { return content(record).find("\"starts\":2") != std::string::npos; }));
  EXPECT_EQ(process_of("fake/worker-node-1"), worker) << "nobody wrote the log";
  start_head();
  ASSERT_TRUE(eventually([&] {
    const auto now = state();
    const auto* service = now.service_state("fake/worker-node-1");
    return service->phase == ServicePhase::ready && service->total_restarts == 1 &&
           now.phase == PilotPhase::ready;
  })) << explain();
  EXPECT_THAT(explain(), HasSubstr("killed by signal 9; starting again in 20ms"));
  stop();
}

TEST_F(AgentsTest, a_head_that_moved_is_found_again) {
  boot();
  const std::string before = folder_->endpoint().value().address;
  head_.reset();
  const auto port = static_cast<std::uint16_t>(std::stoi(before.substr(before.rfind(':') + 1)));
  auto squatter = net::ControlServer::listen(loop_, "127.0.0.1", port, port, net::make_curve_key_pair(), {},
                                             [](const net::PeerId&, const std::string&) {});
  ASSERT_TRUE(squatter.has_value()) << squatter.error().text();
  start_head();
  ASSERT_TRUE(eventually([&] { return folder_->endpoint().value().address != before; }));
  loop_.run_for(700ms);
  ASSERT_TRUE(reaches(PilotPhase::ready)) << explain();
  stop();
}

TEST_F(AgentsTest, a_killed_node_agent_is_started_again_and_takes_up_its_services) {
  boot();
  const auto worker = process_of("fake/worker-node-2");
  nodes_.erase(2);
  ASSERT_TRUE(reaches(PilotPhase::degraded));
  EXPECT_TRUE(proc::is_alive(worker));
  ASSERT_TRUE(reaches(PilotPhase::ready));
  EXPECT_EQ(process_of("fake/worker-node-2"), worker);
  EXPECT_EQ(state().service_state("fake/worker-node-2")->total_restarts, 0);
  stop();
}

TEST_F(AgentsTest, a_service_that_died_while_its_agent_was_dead_is_started_again) {
  boot();
  const auto worker = process_of("fake/worker-node-2");
  nodes_.erase(2);
  proc::send_signal(worker, SIGKILL);
  ASSERT_TRUE(reaches(PilotPhase::degraded));
  ASSERT_TRUE(reaches(PilotPhase::ready)) << explain();
  EXPECT_NE(process_of("fake/worker-node-2"), worker);
  // Its node does not come back with a service that it calls ready and that is dead.
  const auto content = store::read_event_log(folder_->path() / "events.jsonl").value();
  EXPECT_EQ(std::ranges::count_if(content.events,
                                  [](const model::Event& event) {
                                    const auto* change = std::get_if<model::PilotPhaseChanged>(&event.body);
                                    return change != nullptr && change->phase == PilotPhase::ready;
                                  }),
            2);
  stop();
}

TEST_F(AgentsTest, all_agents_killed_at_once_come_back_to_their_services) {
  boot();
  const auto controller = process_of("fake/controller");
  const auto worker = process_of("fake/worker-node-2");
  head_.reset();
  nodes_.clear();
  start_node(1);
  start_head();
  ASSERT_TRUE(eventually([&] { return nodes_.size() == 2 && state().phase == PilotPhase::ready; }))
      << explain();
  EXPECT_EQ(process_of("fake/controller"), controller);
  EXPECT_EQ(process_of("fake/worker-node-2"), worker);
  stop();
}

TEST_F(AgentsTest, a_killed_service_is_visible_as_degraded_and_comes_back) {
  boot();
  const auto worker = process_of("fake/worker-node-1");
  proc::send_signal(worker, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    const auto now = state();
    return now.phase == PilotPhase::ready && now.service_state("fake/worker-node-1")->total_restarts == 1;
  })) << explain();
  EXPECT_THAT(explain(), HasSubstr("degraded: fake/worker-node-1"));
  EXPECT_NE(process_of("fake/worker-node-1"), worker);
  stop();
}

TEST_F(AgentsTest, a_node_that_lost_its_record_starts_its_services_anew_and_leaves_no_old_one) {
  boot();
  const auto worker = process_of("fake/worker-node-2");
  nodes_.erase(2);
  std::filesystem::remove(folder_->node_file("node-2"));
  ASSERT_TRUE(eventually([&] {
    return state().phase == PilotPhase::ready && process_of("fake/worker-node-2") != worker;
  })) << explain();
  EXPECT_FALSE(proc::is_alive(worker));
  stop();
}

TEST_F(AgentsTest, a_service_that_can_not_start_fails_the_pilot_and_everything_is_stopped) {
  spec_.frameworks[0].options["fail"] = "fake/worker-node-2";
  create();
  start_head();
  start_node(1);
  start_node(2);
  ASSERT_TRUE(reaches(PilotPhase::failed)) << explain();
  EXPECT_EQ(state().reason, "fake/worker-node-2 failed: exit code 3; started again 2 times within 10m00s");
  EXPECT_THAT(state().service_state("fake/worker-node-2")->log_tail, HasSubstr("the disk is on fire"));
  expect_all_ended();
  EXPECT_EQ(state().phase, PilotPhase::failed);
}

TEST_F(AgentsTest, killed_in_the_middle_of_booting_the_head_still_makes_it_ready) {
  create();
  start_head();
  start_node(1);
  start_node(2);
  for (int kills = 0; kills < 5; ++kills) {
    const auto before = state().last_sequence;
    ASSERT_TRUE(eventually([&] { return state().last_sequence >= before + 2; })) << explain();
    head_.reset();
    start_head();
  }
  ASSERT_TRUE(reaches(PilotPhase::ready)) << explain();
  stop();
}

TEST_F(AgentsTest, killed_in_the_middle_of_stopping_all_agents_go_on) {
  boot();
  ask_to_stop();
  ASSERT_TRUE(reaches(PilotPhase::stopping));
  head_.reset();
  nodes_.clear();
  start_head();
  start_node(1);  // the head calls the other one back
  ASSERT_TRUE(reaches(PilotPhase::stopped)) << explain();
  expect_all_ended();
}

TEST_F(AgentsTest, a_node_that_can_not_be_reached_does_not_hold_up_stopping) {
  boot();
  relaunch_ = false;
  const auto worker = process_of("fake/worker-node-2");
  nodes_.erase(2);
  ASSERT_TRUE(reaches(PilotPhase::degraded));
  ask_to_stop();
  ASSERT_TRUE(reaches(PilotPhase::stopped)) << explain();
  EXPECT_THAT(explain(), HasSubstr("node-2 can't be reached"));
  ASSERT_TRUE(eventually([&] { return head_code_.has_value(); }));
  EXPECT_TRUE(proc::is_alive(worker));
  // When its agent is there again after all, it finds that the pilot has ended, and cleans up.
  start_node(2);
  ASSERT_TRUE(eventually([&] { return codes_.contains(2); }));
  EXPECT_FALSE(proc::is_alive(worker));
  ASSERT_TRUE(eventually([&] { return codes_.contains(1); }));
}

TEST_F(AgentsTest, an_agent_that_is_told_to_end_stops_its_services_and_tells_the_head) {
  boot();
  nodes_[2]->shut_down("the allocation is ending");
  ASSERT_TRUE(eventually([&] { return codes_.contains(2); }));
  EXPECT_EQ(state().nodes.at("node-2").phase, model::NodePhase::released);
  EXPECT_EQ(state().phase, PilotPhase::degraded);
  EXPECT_FALSE(std::filesystem::exists(home_.path() / "scratch" / "node-2"));
  nodes_.erase(2);
  ask_to_stop();
  ASSERT_TRUE(reaches(PilotPhase::stopped)) << explain();
  expect_all_ended();
}

TEST_F(AgentsTest, when_the_pilots_folder_is_gone_the_nodes_stop_everything_and_end) {
  boot();
  const auto worker = process_of("fake/worker-node-2");
  head_.reset();
  std::filesystem::remove_all(folder_->path());
  ASSERT_TRUE(eventually([&] { return codes_.size() == 2; }));
  EXPECT_FALSE(proc::is_alive(worker));
  EXPECT_FALSE(std::filesystem::exists(home_.path() / "scratch" / "node-2"));
}

TEST_F(AgentsTest, a_scratch_folder_of_somebody_else_is_not_touched) {
  create();
  const auto foreign = home_.path() / "scratch" / "node-1";
  std::filesystem::create_directories(foreign);
  std::ofstream(foreign / "thesis.tex") << "years of work";
  NodeOptions options;
  options.pilot_dir = folder_->path();
  options.node = "node-1";
  options.address = "127.0.0.1";
  options.scratch = foreign;
  const auto agent = NodeAgent::begin(loop_, system_clock(), options, [](int) {});
  ASSERT_TRUE(agent.has_error());
  EXPECT_THAT(agent.error().message, HasSubstr("is not empty"));
  EXPECT_EQ(content(foreign / "thesis.tex"), "years of work");
}

TEST_F(AgentsTest, a_head_without_a_pilot_ends_with_an_error) {
  create();
  HeadOptions options;
  options.pilot_dir = home_.path() / "nothing-here";
  std::optional<int> code;
  const HeadAgent head(loop_, system_clock(), options, registry_, {}, [&](int ended) { code = ended; });
  ASSERT_TRUE(eventually([&] { return code.has_value(); }));
  EXPECT_NE(code, 0);
}

}  // namespace
}  // namespace pilot::agent
