// Head and node agents together: what is killed comes back to what it ran before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "pilot/net/control_server.hpp"
#include "tests/contract/agents/agents_fixture.hpp"

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;
using model::PilotPhase;
using model::ServicePhase;
using test::content;
using testing::HasSubstr;

class AgentsTest : public test::AgentsFixture {};

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
  EXPECT_THAT(explain(), HasSubstr("killed by signal 9; starting again in 500ms"));
  stop();
}

TEST_F(AgentsTest, a_head_that_moved_is_found_again) {
  boot();
  const std::string before = folder_->endpoint().value().address;
  head_.reset();
  const auto port = static_cast<std::uint16_t>(std::stoi(before.substr(before.rfind(':') + 1)));
  auto squatter = net::ControlServer::listen(loop_, address_, port, port, net::make_curve_key_pair(), {},
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
  const auto before = state().last_sequence;
  nodes_.erase(2);
  proc::send_signal(worker, SIGKILL);
  ASSERT_TRUE(reaches(PilotPhase::degraded));
  ASSERT_TRUE(reaches(PilotPhase::ready)) << explain();
  EXPECT_NE(process_of("fake/worker-node-2"), worker);
  // Its node does not come back with a service that it calls ready and that is dead.
  const auto content = store::read_event_log(folder_->path() / "events.jsonl").value();
  for (const auto& event : content.events) {
    const auto* change = std::get_if<model::ServiceChanged>(&event.body);
    if (event.sequence > before && change != nullptr && change->phase == ServicePhase::ready) {
      EXPECT_NE(change->process, worker);
    }
  }
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
  silence_ = 10s;  // it does not tell a head that it takes for gone
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

// A batch system kills what is left of a cancelled job after seconds, the agent too.
TEST_F(AgentsTest, an_agent_whose_job_is_cancelled_is_clean_within_seconds) {
  spec_.frameworks[0].options["stubborn"] = "fake/worker-node-2";
  boot();
  const auto worker = process_of("fake/worker-node-2");
  const auto begun = std::chrono::steady_clock::now();
  nodes_[2]->shut_down("its time will be over");
  nodes_[2]->end_now("told to end");
  ASSERT_TRUE(eventually([&] { return codes_.contains(2); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s) << "its own grace would be 60 s";
  EXPECT_FALSE(proc::is_alive(worker));
  EXPECT_FALSE(std::filesystem::exists(home_.path() / "scratch" / "node-2"));
  nodes_.erase(2);
  ask_to_stop();
  ASSERT_TRUE(reaches(PilotPhase::stopped)) << explain();
  expect_all_ended();
}

// The job is cancelled as soon as the pilot is stopped: the head dies of it, and a head that had been started
// again a few times before would be started again after a back-off that outlasts the job's last seconds.
TEST_F(AgentsTest, the_head_is_not_waited_for_when_the_job_is_cancelled_after_all_was_released) {
  head_program_ = home_.path() / "head";
  ASSERT_TRUE(write_file(head_program_, "#!/bin/sh\nexec sleep 1000\n", 0700).has_value());
  boot();
  ask_to_stop();
  ASSERT_TRUE(reaches(PilotPhase::stopped)) << explain();
  ASSERT_TRUE(eventually([&] { return codes_.contains(2); }));
  EXPECT_FALSE(codes_.contains(1)) << "it waits for its head to end by itself";
  nodes_[1]->end_now("told to end");
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
  options.address = address_;
  options.scratch = foreign;
  const auto agent = NodeAgent::begin(loop_, system_clock(), options, [](int) {});
  ASSERT_TRUE(agent.has_error());
  EXPECT_THAT(agent.error().message, HasSubstr("is not empty"));
  EXPECT_EQ(content(foreign / "thesis.tex"), "years of work");
}

TEST_F(AgentsTest, an_agent_of_another_version_is_refused_and_ends) {
  version_ = "0.0.7";
  create();
  start_head();
  start_node(1);
  ASSERT_TRUE(eventually([&] { return codes_.contains(1); }));
  EXPECT_THAT(explain(), HasSubstr("the agent of node-1 on"));
  EXPECT_THAT(explain(), HasSubstr("'demo' was started by version 0.0.7"));
  EXPECT_FALSE(std::filesystem::exists(home_.path() / "scratch/node-1"));
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
