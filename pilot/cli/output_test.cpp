#include "pilot/cli/output.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pilot/cli/progress.hpp"
#include "pilot/cli/status_view.hpp"

namespace pilot::cli {
namespace {

TEST(Table, LinesUpAndEndsWithoutBlanks) {
  Table table({"NAME", "STATE", "NOTE"});
  table.add({"demo", "ready", ""});
  table.add({"größer", "failed", "why"});
  EXPECT_EQ(table.text(true, false),
            "NAME    STATE   NOTE\n"
            "demo    ready\n"
            "größer  failed  why\n");
  EXPECT_EQ(table.text(false, true),
            "demo    \x1b[32mready\x1b[0m\n"
            "größer  \x1b[31mfailed\x1b[0m  why\n");
}

TEST(ShellQuoted, IsOneWord) {
  EXPECT_EQ(shell_quoted("a b$c"), "'a b$c'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(Colour, FollowsTheVariables) {
  for (const char* name : {"FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(name);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const int fd = pipe_ends[1];
  EXPECT_FALSE(wants_colour("auto", fd));
  EXPECT_TRUE(wants_colour("always", fd));
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(wants_colour("auto", fd));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_colour("auto", fd));
  setenv("FORCE_COLOR", "1", 1);
  EXPECT_TRUE(wants_colour("auto", fd));
  EXPECT_FALSE(wants_colour("never", fd));
  for (const char* name : {"FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(name);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

model::PilotState example() {
  model::PilotState state;
  state.spec.name = "demo";
  state.spec.nodes = 2;
  state.phase = model::PilotPhase::booting;
  state.created = state.phase_since = ManualClock().wall();
  state.allocations["a0"] = {"job-1", 2, model::AllocationPhase::running, ""};
  model::NodeState node;
  node.info.id = "node-1";
  node.info.address = "127.77.1.1";
  node.info.cores = 1;
  node.info.memory = Bytes{std::uint64_t{2} << 30};
  node.phase = model::NodePhase::up;
  state.nodes["node-1"] = node;
  model::ServiceSpec broker;
  broker.id = "kafka/broker-1";
  broker.node = "node-1";
  broker.ports = {{"client", 20001}, {"another", 20002}};
  model::ClusterState cluster;
  cluster.plan.services = {broker};
  cluster.plan.exports = {{"BOOTSTRAP", "127.77.1.1:20001"}};
  cluster.services[broker.id].phase = model::ServicePhase::waiting;
  cluster.services[broker.id].total_restarts = 1;
  cluster.services[broker.id].reason = "killed by signal 9; starting again in 500ms";
  cluster.services[broker.id].since = state.created;
  state.clusters["kafka"] = cluster;
  return state;
}

TEST(StatusText, ShowsEverything) {
  ManualClock clock;
  clock.advance(std::chrono::seconds(65));
  EXPECT_EQ(status_text(example(), true, "", false, clock),
            "demo is booting for 1m05s (local, 2 nodes, age 1m05s)\n"
            "\n"
            "ALLOCATION  STATE    NODES  JOB    REASON\n"
            "a0          running  2      job-1\n"
            "\n"
            "NODE    STATE  ADDRESS     CORES  MEMORY  AGENT  REASON\n"
            "node-1  up     127.77.1.1  1      2 GiB   -\n"
            "\n"
            "SERVICE         STATE    NODE    ENDPOINT          PID  RESTARTS  FOR    REASON\n"
            "kafka/broker-1  waiting  node-1  127.77.1.1:20001  -    1         1m05s  killed by signal 9; "
            "starting again "
            "in 500ms\n"
            "\n"
            "BOOTSTRAP=127.77.1.1:20001\n");
  EXPECT_NE(status_text(example(), false, "the machine was rebooted", false, clock)
                .find("\nnot live: the machine was rebooted\n"),
            std::string::npos);
}

TEST(StatusText, SaysWhenAnExtensionEndsAndLeaves) {
  const ManualClock clock;
  model::PilotState state = example();
  model::AllocationState& extension = state.allocations["a1"];
  extension = {"job-2", 1, model::AllocationPhase::running, ""};
  extension.walltime = std::chrono::hours(1);
  extension.started = clock.wall() - std::chrono::minutes(10);
  const Departures departures{{"a1", {std::chrono::minutes(6), Bytes{5}, Bytes{1}}}};
  EXPECT_NE(status_text(state, true, "", false, clock, departures)
                .find("ALLOCATION  STATE    NODES  JOB    ENDS IN  LEAVES IN  REASON\n"
                      "a0          running  2      job-1\n"
                      "a1          running  1      job-2  50m00s   44m00s\n"),
            std::string::npos)
      << status_text(state, true, "", false, clock, departures);
  const auto json = status_json(state, true, "", departures)["allocations"];
  EXPECT_EQ(json[0]["ends"], nullptr);
  EXPECT_EQ(json[1]["leaves"], iso8601(clock.wall() + std::chrono::minutes(44)));
  EXPECT_EQ(json[1]["held_bytes"], 5);
}

TEST(Summary, SaysWhatIsWaitedFor) {
  EXPECT_EQ(summary_of(example()), "1 of 2 nodes, kafka 0 of 1 services ready (kafka/broker-1 waiting)");
}

}  // namespace
}  // namespace pilot::cli
