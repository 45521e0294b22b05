#include "pilot/agent/head_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;
using model::NodePhase;
using model::PilotPhase;
using model::ServicePhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

model::ServiceSpec service(const std::string& id, const std::string& node, int stage,
                           std::uint16_t port = 0) {
  model::ServiceSpec spec;
  spec.id = id;
  spec.node = node;
  spec.stage = stage;
  spec.stop.grace = 5s;
  if (port != 0) spec.ports["client"] = port;
  return spec;
}

// A controller on node-1 (stage 0) and workers on both nodes (stage 1).
model::ClusterPlan plan() {
  model::ClusterPlan plan;
  plan.framework = "fake";
  plan.services = {service("fake/controller", "node-1", 0, 101), service("fake/worker-1", "node-1", 1, 102),
                   service("fake/worker-2", "node-2", 1, 101)};
  plan.client_files = {{"/client/file", "content", 0600}};
  return plan;
}

// A head core with its log, and node agents that do nothing but what a test says.
class HeadCoreTest : public testing::Test {
 protected:
  HeadCoreTest() {
    model::PilotSpec spec;
    spec.name = "demo";
    spec.nodes = 2;
    spec.ready_timeout = 3min;
    spec.frameworks = {{"fake", {}, {}}};
    log(model::PilotCreated{"id", spec, "0.1", "user", "host"});
    log(model::AllocationSubmitted{"a0", "job-7", 2});
    restart();
  }

  void log(const model::EventBody& body) { events_.push_back({events_.size() + 1, clock_.wall(), body}); }

  // As after a kill -9 of the head: nothing but the log is left, and peers connect anew.
  void restart() {
    core_.emplace(model::fold(events_), clock_);
    ++connection_;
    const int start = core_->state().head ? core_->state().head->start + 1 : 1;
    take(core_->start({{100 + start, 1, "boot"}, "host", "tcp://127.0.0.1:1", start}));
  }

  void take(HeadOutput output) {
    for (auto& body : output.events) log(body);
    for (auto& message : output.messages) messages_.push_back(std::move(message));
    for (auto& effect : output.effects) effects_.push_back(std::move(effect));
    EXPECT_EQ(model::fold(events_), core_->state()) << "the log does not say what the head believes";
  }

  std::string peer(const std::string& node) const { return node + "#" + std::to_string(connection_); }

  void receive(const std::string& node, model::MessageBody body) {
    take(core_->receive(peer(node), {"m", std::move(body)}));
  }

  static model::NodeInfo node(const std::string& id, int agent = 1) {
    model::NodeInfo info;
    info.id = id;
    info.allocation = "a0";
    info.rank = id.back() - '1';
    info.free_ports = {101, 102, 103};
    info.agent = {agent, 5, "boot"};
    return info;
  }

  void enroll(const std::string& id, std::vector<model::ServiceChanged> services = {}, int agent = 1) {
    receive(id, model::RegisterNode{node(id, agent), std::move(services)});
  }

  void report(const std::string& node, const std::string& id, ServicePhase phase,
              const std::string& reason = {}, const std::string& tail = {}) {
    receive(node, model::ServiceReport{node, ++numbers_[node], change(id, phase, reason, tail)});
  }

  static model::ServiceChanged change(const std::string& id, ServicePhase phase,
                                      const std::string& reason = {}, const std::string& tail = {}) {
    const bool runs = phase == ServicePhase::ready || phase == ServicePhase::starting;
    return {id, phase,  runs ? model::ProcessIdentity{7, 7, "boot"} : model::ProcessIdentity{},
            0,  reason, tail};
  }

  void boot() {
    enroll("node-1");
    enroll("node-2");
    take(core_->planned("fake", plan()));
    report("node-1", "fake/controller", ServicePhase::ready);
    report("node-1", "fake/worker-1", ServicePhase::ready);
    report("node-2", "fake/worker-2", ServicePhase::ready);
    take(core_->probed("fake", ok()));
    take(core_->client_files_written("fake", ok()));
    ASSERT_EQ(phase(), PilotPhase::ready);
    messages_.clear();
    effects_.clear();
  }

  // Time passes, with heartbeats of the given nodes.
  void pass(Duration time, const std::vector<std::string>& alive) {
    for (Duration passed{0}; passed < time; passed += 500ms) {
      clock_.advance(500ms);
      for (const auto& id : alive) receive(id, model::Heartbeat{id});
      take(core_->tick());
    }
  }

  PilotPhase phase() const { return core_->state().phase; }

  // What was sent to a node since the last call, and its other messages forgotten.
  template <typename Body>
  std::vector<Body> sent(const std::string& node) {
    std::vector<Body> found;
    for (const auto& message : messages_)
      if (message.peer == peer(node))
        if (const auto* body = std::get_if<Body>(&message.message.body)) found.push_back(*body);
    std::erase_if(messages_, [&](const auto& m) {
      return m.peer == peer(node) && std::holds_alternative<Body>(m.message.body);
    });
    return found;
  }

  std::vector<std::string> started(const std::string& node) {
    std::vector<std::string> ids;
    for (const auto& message : sent<model::StartServices>(node))
      for (const auto& spec : message.services) ids.push_back(spec.id);
    return ids;
  }
  std::vector<std::string> stopped(const std::string& node) {
    std::vector<std::string> ids;
    for (const auto& message : sent<model::StopServices>(node))
      ids.insert(ids.end(), message.services.begin(), message.services.end());
    return ids;
  }

  template <typename Kind>
  std::vector<Kind> effects() {
    std::vector<Kind> found;
    for (const auto& effect : effects_)
      if (const auto* kind = std::get_if<Kind>(&effect)) found.push_back(*kind);
    std::erase_if(effects_, [](const Effect& effect) { return std::holds_alternative<Kind>(effect); });
    return found;
  }

  bool noted(const std::string& text) const {
    return std::ranges::any_of(events_, [&](const auto& event) {
      const auto* found = std::get_if<model::Note>(&event.body);
      return found != nullptr && found->text.find(text) != std::string::npos;
    });
  }

  ManualClock clock_;
  std::vector<model::Event> events_;
  std::optional<HeadCore> core_;
  std::vector<Outgoing> messages_;
  std::vector<Effect> effects_;
  std::map<std::string, std::uint64_t> numbers_;
  int connection_ = 0;
};

TEST_F(HeadCoreTest, boots_stage_by_stage_until_ready) {
  EXPECT_EQ(phase(), PilotPhase::starting);
  enroll("node-2");
  EXPECT_THAT(sent<model::NodeAccepted>("node-2"), SizeIs(1));
  EXPECT_EQ(phase(), PilotPhase::starting);
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());

  enroll("node-1");
  EXPECT_EQ(phase(), PilotPhase::booting);
  const auto wanted = effects<PlanCluster>();
  ASSERT_THAT(wanted, SizeIs(1));
  EXPECT_THAT(wanted[0].nodes, ElementsAre(node("node-1"), node("node-2")));

  take(core_->planned("fake", plan()));
  EXPECT_THAT(started("node-1"), ElementsAre("fake/controller"));
  EXPECT_THAT(started("node-2"), IsEmpty());
  report("node-1", "fake/controller", ServicePhase::starting);
  EXPECT_THAT(started("node-1"), IsEmpty());
  report("node-1", "fake/controller", ServicePhase::ready);
  EXPECT_THAT(started("node-1"), ElementsAre("fake/worker-1"));
  EXPECT_THAT(started("node-2"), ElementsAre("fake/worker-2"));

  report("node-1", "fake/worker-1", ServicePhase::ready);
  EXPECT_THAT(effects<ProbeCluster>(), IsEmpty());
  report("node-2", "fake/worker-2", ServicePhase::ready);
  EXPECT_THAT(effects<ProbeCluster>(), SizeIs(1));
  take(core_->tick());
  EXPECT_THAT(effects<ProbeCluster>(), IsEmpty());
  take(core_->probed("fake", ok()));
  const auto files = effects<WriteClientFiles>();
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_EQ(files[0].files, plan().client_files);
  EXPECT_EQ(phase(), PilotPhase::booting);
  take(core_->client_files_written("fake", ok()));
  EXPECT_EQ(phase(), PilotPhase::ready);
  EXPECT_TRUE(core_->state().clusters.at("fake").ready);
}

TEST_F(HeadCoreTest, a_stage_that_was_started_stays_wanted_when_the_one_before_falls_back) {
  enroll("node-1");
  enroll("node-2");
  take(core_->planned("fake", plan()));
  report("node-1", "fake/controller", ServicePhase::ready);
  report("node-2", "fake/worker-2", ServicePhase::starting);
  report("node-1", "fake/controller", ServicePhase::waiting, "killed by signal 9");
  sent<model::NodeAccepted>("node-2");
  enroll("node-2", {change("fake/worker-2", ServicePhase::starting)});
  EXPECT_THAT(sent<model::NodeAccepted>("node-2").back().services, ElementsAre("fake/worker-2"));
}

TEST_F(HeadCoreTest, reports_are_stored_once_in_order_and_acknowledged) {
  boot();
  const auto before = events_.size();
  const model::ServiceReport again{"node-1", numbers_["node-1"],
                                   change("fake/worker-1", ServicePhase::ready)};
  receive("node-1", again);
  EXPECT_EQ(events_.size(), before);
  EXPECT_EQ(sent<model::ReportsStored>("node-1").back().number, numbers_["node-1"]);
  // One is missing before this one: it is not taken, the agent will send both again.
  receive("node-1", model::ServiceReport{"node-1", numbers_["node-1"] + 2,
                                         change("fake/worker-1", ServicePhase::waiting)});
  EXPECT_EQ(events_.size(), before);
  EXPECT_EQ(sent<model::ReportsStored>("node-1").back().number, numbers_["node-1"]);
}

TEST_F(HeadCoreTest, a_service_that_falls_over_makes_it_degraded_until_it_is_back) {
  boot();
  report("node-2", "fake/worker-2", ServicePhase::waiting, "killed by signal 9; starting again in 500ms");
  EXPECT_EQ(phase(), PilotPhase::degraded);
  EXPECT_EQ(core_->state().reason, "fake/worker-2 waiting: killed by signal 9; starting again in 500ms");
  report("node-2", "fake/worker-2", ServicePhase::starting);
  EXPECT_EQ(phase(), PilotPhase::degraded);
  report("node-2", "fake/worker-2", ServicePhase::ready);
  EXPECT_EQ(phase(), PilotPhase::ready);
  EXPECT_EQ(core_->state().reason, "");
  report("node-2", "fake/worker-2", ServicePhase::failed, "exit code 3", "tail");
  EXPECT_EQ(phase(), PilotPhase::degraded);  // the others go on
  EXPECT_THAT(started("node-2"), IsEmpty());
}

TEST_F(HeadCoreTest, a_silent_node_is_lost_its_agent_started_again_with_backoff_and_taken_back) {
  boot();
  pass(5s, {"node-1"});
  EXPECT_EQ(phase(), PilotPhase::ready);
  pass(1s, {"node-1"});
  EXPECT_EQ(phase(), PilotPhase::degraded);
  EXPECT_EQ(core_->state().nodes.at("node-2").phase, NodePhase::lost);
  EXPECT_THAT(core_->state().reason, HasSubstr("node-2 lost: no sign of life"));
  EXPECT_EQ(core_->state().service_state("fake/worker-2")->phase, ServicePhase::ready)
      << "unknown is not gone";
  auto launches = effects<LaunchAgent>();
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_EQ(launches[0].job_id, "job-7");
  EXPECT_EQ(launches[0].rank, 1);

  pass(3s, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty()) << "one is under way";
  take(core_->launched("node-2", make_error(ErrorCode::unavailable, "no route to host")));
  pass(1s, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
  take(core_->launched("node-2", make_error(ErrorCode::unavailable, "no route to host")));
  pass(1500ms, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
  pass(500ms, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
  take(core_->launched("node-2", ok()));

  receive("node-2", model::Heartbeat{"node-2"});
  EXPECT_THAT(sent<model::RegisterAgain>("node-2"), SizeIs(1));
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)}, 2);
  EXPECT_EQ(phase(), PilotPhase::ready);
  EXPECT_THAT(started("node-2"), IsEmpty());
  pass(10s, {"node-1", "node-2"});
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
}

TEST_F(HeadCoreTest, an_agent_that_ended_before_our_eyes_is_started_again_at_once) {
  boot();
  take(core_->agent_ended("node-2", {99, 5, "boot"}));  // one that was there before
  EXPECT_EQ(phase(), PilotPhase::ready);
  pass(6s, {"node-1", "node-2"});
  take(core_->agent_ended("node-2", node("node-2").agent));
  EXPECT_EQ(phase(), PilotPhase::degraded);
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
  take(core_->launched("node-2", ok()));
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)}, 2);
  take(core_->agent_ended("node-2", node("node-2", 2).agent));
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty()) << "it had hardly begun";
  pass(6s, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
}

TEST_F(HeadCoreTest, a_node_whose_job_is_over_is_not_started_again) {
  boot();
  pass(6s, {"node-1"});
  effects<LaunchAgent>();
  take(core_->launched("node-2", make_error(ErrorCode::not_found, "no job job-7")));
  pass(60s, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
  EXPECT_TRUE(noted("no job job-7"));
  EXPECT_EQ(phase(), PilotPhase::degraded);
}

TEST_F(HeadCoreTest, a_service_that_its_node_forgot_is_started_again) {
  boot();
  enroll("node-2", {}, 2);  // its record was lost with its disk
  EXPECT_EQ(phase(), PilotPhase::degraded);
  EXPECT_THAT(sent<model::NodeAccepted>("node-2").back().services, ElementsAre("fake/worker-2"));
  EXPECT_THAT(started("node-2"), ElementsAre("fake/worker-2"));
  numbers_["node-2"] = 0;  // it counts its reports anew
  report("node-2", "fake/worker-2", ServicePhase::ready);
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadCoreTest, after_a_restart_it_waits_for_its_nodes_and_plans_nothing_again) {
  boot();
  restart();
  EXPECT_EQ(phase(), PilotPhase::ready);
  EXPECT_EQ(core_->state().head->start, 2);
  receive("node-1", model::Heartbeat{"node-1"});
  EXPECT_THAT(sent<model::RegisterAgain>("node-1"), SizeIs(1));
  const auto before = events_.size();
  enroll("node-1",
         {change("fake/controller", ServicePhase::ready), change("fake/worker-1", ServicePhase::ready)});
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)});
  EXPECT_EQ(events_.size(), before) << "nothing has changed";
  EXPECT_EQ(phase(), PilotPhase::ready);
  EXPECT_THAT(started("node-1"), IsEmpty());
  EXPECT_THAT(started("node-2"), IsEmpty());
  EXPECT_THAT(effects_, IsEmpty());
  pass(10s, {"node-1", "node-2"});
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadCoreTest, after_a_restart_a_node_that_stays_away_is_lost) {
  boot();
  restart();
  enroll("node-1",
         {change("fake/controller", ServicePhase::ready), change("fake/worker-1", ServicePhase::ready)});
  pass(6s, {"node-1"});
  EXPECT_EQ(core_->state().nodes.at("node-2").phase, NodePhase::lost);
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
}

TEST_F(HeadCoreTest, restarted_in_every_step_of_booting_it_still_becomes_ready) {
  enroll("node-1");
  restart();
  enroll("node-1");
  enroll("node-2");
  restart();
  effects_.clear();
  enroll("node-1");
  enroll("node-2");
  take(core_->tick());
  take(core_->planned("fake", plan()));
  restart();
  enroll("node-1");
  enroll("node-2");
  EXPECT_THAT(started("node-1"), ElementsAre("fake/controller"));
  report("node-1", "fake/controller", ServicePhase::ready);
  restart();
  enroll("node-1",
         {change("fake/controller", ServicePhase::ready), change("fake/worker-1", ServicePhase::starting)});
  enroll("node-2");
  EXPECT_THAT(started("node-1"), IsEmpty());
  EXPECT_THAT(started("node-2"), ElementsAre("fake/worker-2"));
  report("node-1", "fake/worker-1", ServicePhase::ready);
  report("node-2", "fake/worker-2", ServicePhase::ready);
  restart();
  effects_.clear();
  take(core_->tick());
  restart();
  EXPECT_THAT(effects<ProbeCluster>(), SizeIs(1)) << "the cluster is probed by the new head";
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  EXPECT_EQ(phase(), PilotPhase::ready);
}

TEST_F(HeadCoreTest, stops_by_descending_stage_releases_the_nodes_and_finishes) {
  boot();
  take(core_->receive("client", {"q", model::StopPilot{"the user said so"}}));
  EXPECT_TRUE(std::ranges::any_of(messages_, [](const Outgoing& outgoing) {
    return outgoing.peer == "client" && outgoing.message == model::Message{"q", model::Accepted{}};
  }));
  EXPECT_EQ(phase(), PilotPhase::stopping);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/worker-1"));
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2"));
  report("node-1", "fake/worker-1", ServicePhase::stopping);
  report("node-1", "fake/worker-1", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), IsEmpty()) << "the other worker has not stopped";
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  EXPECT_THAT(sent<model::ReleaseNode>("node-2"), IsEmpty());
  report("node-1", "fake/controller", ServicePhase::stopped);
  EXPECT_THAT(sent<model::ReleaseNode>("node-1"), SizeIs(1));
  EXPECT_THAT(sent<model::ReleaseNode>("node-2"), SizeIs(1));
  receive("node-2", model::NodeReleased{"node-2", {}});
  EXPECT_THAT(sent<model::Accepted>("node-2"), SizeIs(1));
  EXPECT_EQ(phase(), PilotPhase::stopping);
  receive("node-1", model::NodeReleased{"node-1", {"process 5 (stuck)"}});
  EXPECT_EQ(phase(), PilotPhase::stopped);
  EXPECT_EQ(core_->state().reason, "the user said so");
  EXPECT_TRUE(noted("node-1 left: process 5 (stuck)"));
  EXPECT_THAT(effects<Finish>(), SizeIs(1));
  EXPECT_TRUE(is_done(core_->state()));
}

TEST_F(HeadCoreTest, restarted_in_the_middle_of_stopping_it_goes_on) {
  boot();
  take(core_->receive("client", {"q", model::StopPilot{}}));
  report("node-1", "fake/worker-1", ServicePhase::stopped);
  restart();
  enroll("node-1",
         {change("fake/controller", ServicePhase::ready), change("fake/worker-1", ServicePhase::stopped)});
  EXPECT_THAT(sent<model::NodeAccepted>("node-1").back().services, ElementsAre("fake/controller"));
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)});
  EXPECT_THAT(started("node-1"), IsEmpty());
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2"));
  EXPECT_THAT(stopped("node-1"), IsEmpty());
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  report("node-1", "fake/controller", ServicePhase::stopped);
  receive("node-1", model::NodeReleased{"node-1", {}});
  restart();
  enroll("node-2", {change("fake/worker-2", ServicePhase::stopped)});
  EXPECT_THAT(sent<model::ReleaseNode>("node-2"), SizeIs(1));
  receive("node-2", model::NodeReleased{"node-2", {}});
  EXPECT_EQ(phase(), PilotPhase::stopped);
  effects_.clear();
  restart();  // nothing is left to do
  EXPECT_EQ(phase(), PilotPhase::stopped);
  EXPECT_THAT(effects<Finish>(), SizeIs(1));
}

TEST_F(HeadCoreTest, a_node_lost_while_stopping_is_called_back_and_then_given_up) {
  boot();
  pass(6s, {"node-1"});
  effects_.clear();
  take(core_->receive("client", {"q", model::StopPilot{}}));
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/worker-1"));
  report("node-1", "fake/worker-1", ServicePhase::stopped);
  pass(10s, {"node-1"});
  EXPECT_THAT(stopped("node-1"), IsEmpty()) << "worker-2 may still run";
  pass(11s, {"node-1"});
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  EXPECT_TRUE(noted("node-2 can't be reached"));
  report("node-1", "fake/controller", ServicePhase::stopped);
  receive("node-1", model::NodeReleased{"node-1", {}});
  EXPECT_EQ(phase(), PilotPhase::stopped);
  EXPECT_TRUE(is_done(core_->state()));
}

TEST_F(HeadCoreTest, a_node_that_comes_back_while_stopping_is_stopped_too) {
  boot();
  pass(6s, {"node-1"});
  take(core_->receive("client", {"q", model::StopPilot{}}));
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(1));
  enroll("node-2", {change("fake/worker-2", ServicePhase::ready)}, 2);
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2"));
}

TEST_F(HeadCoreTest, a_service_that_will_not_stop_does_not_hold_up_the_rest_for_ever) {
  boot();
  take(core_->receive("client", {"q", model::StopPilot{}}));
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  stopped("node-1");
  pass(39s, {"node-1", "node-2"});
  EXPECT_THAT(stopped("node-1"), IsEmpty());
  pass(2s, {"node-1", "node-2"});
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  EXPECT_TRUE(noted("fake/worker-1 did not stop within"));
}

TEST_F(HeadCoreTest, a_service_that_fails_while_booting_fails_the_start_and_all_is_stopped) {
  enroll("node-1");
  enroll("node-2");
  take(core_->planned("fake", plan()));
  report("node-1", "fake/controller", ServicePhase::ready);
  started("node-2");
  report("node-1", "fake/worker-1", ServicePhase::failed, "exit code 3", "the last words");
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "fake/worker-1 failed: exit code 3");
  EXPECT_EQ(core_->state().service_state("fake/worker-1")->log_tail, "the last words");
  EXPECT_THAT(stopped("node-2"), ElementsAre("fake/worker-2")) << "it was asked to start and not heard of";
  EXPECT_FALSE(is_done(core_->state()));
  report("node-2", "fake/worker-2", ServicePhase::stopped);
  EXPECT_THAT(stopped("node-1"), ElementsAre("fake/controller"));
  report("node-1", "fake/controller", ServicePhase::stopped);
  receive("node-1", model::NodeReleased{"node-1", {}});
  receive("node-2", model::NodeReleased{"node-2", {}});
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_THAT(effects<Finish>(), SizeIs(1));
  EXPECT_TRUE(is_done(core_->state()));
}

TEST_F(HeadCoreTest, a_plan_or_probe_that_fails_fails_the_start) {
  enroll("node-1");
  enroll("node-2");
  take(core_->planned("fake", make_error(ErrorCode::usage, "3 controllers need 3 nodes", "take more nodes")));
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "fake: 3 controllers need 3 nodes; take more nodes");
  EXPECT_THAT(sent<model::ReleaseNode>("node-1"), SizeIs(1));
}

TEST_F(HeadCoreTest, nodes_that_do_not_come_are_named_after_the_time_limit) {
  enroll("node-1");
  pass(181s, {"node-1"});
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "not all nodes came within 3m00s: node-2 missing");
}

TEST_F(HeadCoreTest, what_is_not_ready_is_named_after_the_time_limit) {
  enroll("node-1");
  enroll("node-2");
  take(core_->planned("fake", plan()));
  report("node-1", "fake/controller", ServicePhase::starting);
  pass(181s, {"node-1", "node-2"});
  EXPECT_EQ(phase(), PilotPhase::failed);
  EXPECT_EQ(core_->state().reason, "not ready after 3m00s: fake/controller starting");
}

TEST_F(HeadCoreTest, stopping_while_booting_ignores_answers_that_come_late) {
  enroll("node-1");
  enroll("node-2");
  take(core_->receive("client", {"q", model::StopPilot{}}));
  take(core_->planned("fake", plan()));
  EXPECT_TRUE(core_->state().clusters.empty());
  take(core_->probed("fake", ok()));
  EXPECT_EQ(phase(), PilotPhase::stopping);
  EXPECT_THAT(sent<model::ReleaseNode>("node-1"), SizeIs(1));
}

TEST_F(HeadCoreTest, a_second_framework_does_not_get_the_ports_of_the_first) {
  auto created = std::get<model::PilotCreated>(events_[0].body);
  created.spec.frameworks.push_back({"other", {}, {}});
  events_.clear();
  log(created);
  restart();
  enroll("node-1");
  enroll("node-2");
  auto wanted = effects<PlanCluster>();
  ASSERT_THAT(wanted, SizeIs(1));
  take(core_->planned("fake", plan()));
  wanted = effects<PlanCluster>();
  ASSERT_THAT(wanted, SizeIs(1));
  EXPECT_EQ(wanted[0].framework.name, "other");
  EXPECT_THAT(wanted[0].nodes[0].free_ports, ElementsAre(103));
  EXPECT_THAT(wanted[0].nodes[1].free_ports, ElementsAre(102, 103));
}

TEST_F(HeadCoreTest, clients_get_the_state_and_strange_messages_are_refused) {
  boot();
  take(core_->receive("client", {"q1", model::GetStatus{}}));
  ASSERT_TRUE(std::holds_alternative<model::Status>(messages_.back().message.body));
  EXPECT_EQ(std::get<model::Status>(messages_.back().message.body).state, core_->state());
  EXPECT_EQ(messages_.back().message.id, "q1");
  take(core_->receive("client", {"q2", model::ReleaseNode{}}));
  EXPECT_TRUE(std::holds_alternative<model::Refused>(messages_.back().message.body));
}

TEST_F(HeadCoreTest, a_message_through_a_new_connection_makes_the_node_register_again) {
  boot();
  ++connection_;
  receive("node-1", model::Heartbeat{"node-1"});
  EXPECT_THAT(sent<model::RegisterAgain>("node-1"), SizeIs(1));
}

TEST_F(HeadCoreTest, a_node_whose_agent_was_told_to_end_is_not_called_back) {
  boot();
  receive("node-2", model::NodeReleased{"node-2", {}});
  EXPECT_EQ(phase(), PilotPhase::degraded);
  pass(60s, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
}

}  // namespace
}  // namespace pilot::agent
