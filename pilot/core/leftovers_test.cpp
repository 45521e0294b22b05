#include "pilot/core/leftovers.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/random.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"

namespace pilot::core {
namespace {

class Leftovers : public testing::Test {
 protected:
  Leftovers() { state.id = random_hex(8); }

  // A shell that goes on when asked to end if it is `stubborn`.
  model::ProcessIdentity start(const std::map<std::string, std::string>& marks, bool stubborn) {
    model::Command command;
    command.argv = {"/bin/sh", "-c", stubborn ? "trap '' TERM; sleep 600 & wait; wait" : "exec sleep 600"};
    command.env = marks;
    const auto process = proc::spawn(command, {});
    EXPECT_TRUE(process.has_value());
    return process.value();
  }

  model::PilotState state;
};

TEST_F(Leftovers, AreFoundByIdentityAndByMark) {
  const auto logged = start({}, false);
  const auto service = start({{"PILOT_ID", state.id}}, true);
  const auto agent = start({{"PILOT_AGENT_OF", state.id}}, false);
  const auto stranger = start({{"PILOT_ID", "another"}}, false);
  state.processes = {logged, {1, 1, "another boot"}};
  EXPECT_GE(living_processes(state).size(), 3u);

  const EndedLeftovers ended = end_leftovers(system_clock(), state, Duration{0});
  EXPECT_GE(ended.ended, 3);
  EXPECT_TRUE(ended.left.empty());
  for (const auto& process : {logged, service, agent}) EXPECT_FALSE(proc::is_alive(process));
  EXPECT_TRUE(proc::is_alive(stranger));
  proc::send_signal(stranger, SIGKILL);
}

TEST_F(Leftovers, ThatEndByThemselvesAreNotCounted) {
  EXPECT_EQ(end_leftovers(system_clock(), state, std::chrono::seconds(1)).ended, 0);
}

TEST_F(Leftovers, ServicesEndStageByStage) {
  model::ClusterState cluster;
  for (int stage : {0, 1}) {
    model::ServiceSpec service;
    service.id = "echo/" + std::to_string(stage);
    service.stage = stage;
    service.stop.grace = std::chrono::milliseconds(200);
    cluster.services[service.id].process = start({{"PILOT_ID", state.id}}, stage == 1);
    cluster.plan.services.push_back(service);
  }
  state.clusters["echo"] = cluster;
  stop_services_directly(system_clock(), state);
  const Deadline deadline(system_clock(), std::chrono::seconds(5));
  while (!living_processes(state).empty() && !deadline.passed()) {
  }
  EXPECT_TRUE(living_processes(state).empty());
}

TEST_F(Leftovers, AgentsAreEndedAndServicesAreNot) {
  const auto agent = start({{"PILOT_AGENT_OF", state.id}}, true);
  const auto service = start({{"PILOT_AGENT_OF", state.id}, {"PILOT_ID", state.id}}, false);
  end_agents_directly(state);
  const Deadline deadline(system_clock(), std::chrono::seconds(5));
  while (proc::is_alive(agent) && !deadline.passed()) {
  }
  EXPECT_FALSE(proc::is_alive(agent));
  EXPECT_TRUE(proc::is_alive(service));
  EXPECT_TRUE(end_leftovers(system_clock(), state, Duration{0}).left.empty());
}

}  // namespace
}  // namespace pilot::core
