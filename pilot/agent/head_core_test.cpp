#include "pilot/agent/head_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "pilot/agent/head_harness.hpp"

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;
using model::NodePhase;
using model::PilotPhase;
using model::ServicePhase;
using test::plan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HeadCoreTest : public testing::Test, protected test::HeadHarness {
 protected:
  // Both nodes are there, and a plan with one on the second.
  void begin_with_a_late_service() {
    enroll("node-1");
    enroll("node-2");
    auto with_late = plan();
    with_late.services.push_back(test::service("fake/second", "node-2", 0));
    with_late.services.back().late = true;
    take(core_->planned("fake", with_late));
  }
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

TEST_F(HeadCoreTest, a_late_service_starts_once_the_cluster_is_ready_and_holds_nobody_up) {
  begin_with_a_late_service();
  report("node-1", "fake/controller", ServicePhase::ready);
  report("node-1", "fake/worker-1", ServicePhase::ready);
  EXPECT_THAT(started("node-2"), ElementsAre("fake/worker-2"));
  report("node-2", "fake/worker-2", ServicePhase::ready);
  take(core_->probed("fake", ok()));
  take(core_->client_files_written("fake", ok()));
  EXPECT_EQ(core_->state().phase, PilotPhase::ready);
  EXPECT_THAT(started("node-2"), ElementsAre("fake/second"));
  report("node-2", "fake/second", ServicePhase::starting);
  EXPECT_EQ(core_->state().phase, PilotPhase::ready) << "on its way";
  report("node-2", "fake/second", ServicePhase::waiting, "exited with 1");
  EXPECT_EQ(core_->state().phase, PilotPhase::degraded);
  report("node-2", "fake/second", ServicePhase::starting);
  EXPECT_EQ(core_->state().phase, PilotPhase::degraded) << "it was expected to be there";
  report("node-2", "fake/second", ServicePhase::ready);
  EXPECT_EQ(core_->state().phase, PilotPhase::ready);
}

TEST_F(HeadCoreTest, a_late_service_that_fails_is_no_failure_of_the_pilot) {
  begin_with_a_late_service();
  report("node-2", "fake/second", ServicePhase::failed, "no space left");  // of an earlier head's start
  EXPECT_EQ(core_->state().phase, PilotPhase::booting);
}

TEST_F(HeadCoreTest, an_early_service_starts_along_with_the_stage_before_its_own_and_no_sooner) {
  enroll("node-1");
  enroll("node-2");
  auto three_stages = plan();
  three_stages.services[1].early = true;
  three_stages.services[2].early = true;
  three_stages.services[2].stage = 2;
  take(core_->planned("fake", three_stages));
  EXPECT_THAT(started("node-1"), ElementsAre("fake/controller", "fake/worker-1"));
  EXPECT_THAT(started("node-2"), IsEmpty());
  report("node-1", "fake/worker-1", ServicePhase::starting);
  report("node-1", "fake/controller", ServicePhase::ready);
  EXPECT_THAT(started("node-2"), ElementsAre("fake/worker-2"));
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
  EXPECT_EQ(core_->state().service_state("fake/worker-2")->phase, ServicePhase::lost)
      << "neither ready nor gone: unknown";
  auto launches = effects<LaunchAgent>();
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_EQ(launches[0].allocation, "a0");
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

// A switch that fails takes hundreds along: each is started by a thread and a tool of its own.
TEST_F(HeadCoreTest, of_many_lost_nodes_a_few_at_a_time_are_started_again) {
  boot();
  for (int number = 3; number <= 102; ++number) {
    auto info = node("node-" + std::to_string(number), number);
    info.rank = number - 1;
    receive(info.id, model::RegisterNode{info, {}});
  }
  pass(6s, {"node-1", "node-2"});
  auto launches = effects<LaunchAgent>();
  EXPECT_THAT(launches, SizeIs(32));
  std::set<std::string> launched;
  for (int rounds = 0; rounds < 4; ++rounds) {
    for (const auto& launch : launches) {
      launched.insert(launch.node);
      take(core_->launched(launch.node, ok()));
    }
    pass(1s, {"node-1", "node-2"});
    launches = effects<LaunchAgent>();
  }
  EXPECT_THAT(launched, SizeIs(100));
}

// Ten thousand that connect to a head that was restarted keep it busy for longer than a node may be silent.
TEST_F(HeadCoreTest, in_a_large_pilot_silence_is_borne_longer) {
  std::vector<std::string> all;
  for (int number = 1; number <= 2000; ++number) {
    auto info = node("node-" + std::to_string(number), number);
    info.rank = number - 1;
    log(model::NodeRegistered{info});
    all.push_back(info.id);
  }
  restart();
  pass(6s, {});
  EXPECT_EQ(core_->state().nodes.at("node-2000").phase, NodePhase::up);
  pass(500ms, {});
  EXPECT_EQ(core_->state().nodes.at("node-2000").phase, NodePhase::lost);
}

TEST_F(HeadCoreTest, an_agent_of_another_version_is_refused_with_both) {
  auto other = node("node-1");
  other.version = "0.2";
  other.host = "cn7";
  receive("node-1", model::RegisterNode{other, {}});
  const auto refused = sent<model::Refused>("node-1");
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].error.message,
            "the agent of node-1 on cn7 is of version 0.2, and 'demo' was started by version 0.1");
  EXPECT_TRUE(noted("is of version 0.2")) << "the user sees it as well";
  EXPECT_FALSE(core_->state().nodes.contains("node-1"));
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

TEST_F(HeadCoreTest, a_pilot_whose_base_is_over_stops) {
  boot();
  pass(12s, {});
  EXPECT_THAT(effects<LaunchAgent>(), SizeIs(2));
  take(core_->launched("node-1", make_error(ErrorCode::not_found, "job-7 is over")));
  take(core_->tick());
  EXPECT_EQ(phase(), PilotPhase::degraded) << "the other may come back";
  take(core_->launched("node-2", make_error(ErrorCode::not_found, "job-7 is over")));
  take(core_->tick());
  EXPECT_EQ(core_->state().allocations.at("a0").phase, model::AllocationPhase::ended);
  EXPECT_TRUE(phase() == PilotPhase::stopping || phase() == PilotPhase::stopped);
  EXPECT_EQ(core_->state().reason, "the job of its base is over");
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
