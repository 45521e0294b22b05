#include "adaptors/batch/host/inside_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "adaptors/batch/host/play_dialect.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/test_support.hpp"

namespace pilot::adaptors::host {
namespace {

using model::AllocationPhase;
using testing::HasSubstr;

using pilot::test::eventually;

// We are in job 77, which has one node, this machine.
class InsideHostTest : public testing::Test {
 protected:
  InsideHostTest() {
    EXPECT_TRUE(make_directory(folder).has_value());
    make_play_tool(folder);
    when("poll", "echo '77 running'");
    auto dialect = std::make_shared<PlayDialect>(folder.string());
    dialect->parts.directives = {{"nodes", "#PLAY --nodes=1"}};
    dialect->parts.job_id = "77";
    dialect->parts.rank = "0";
    dialect->parts.list_nodes = "hostname";
    dialect->parts.submit_host = "localhost";
    dialect->parts.on_each_node = "false";
    dialect->parts.also_on_each_node = "\"$@\"";
    HostTiming timing;
    timing.poll_interval = std::chrono::milliseconds(1);
    timing.leave = std::chrono::milliseconds(100);
    adaptor = std::make_unique<InsideHost>(
        std::vector<std::shared_ptr<const BatchDialect>>{dialect},
        [this](const std::string& name) { return name == "PLAY_JOB" ? job : std::string(); }, timing);
    request.pilot_id = random_hex(16);
    request.allocation = "a0";
    request.nodes = 1;
    request.spec.name = "demo";
    request.spec.scratch = (folder / "scratch").string();
    request.pilot_dir = folder / "home" / "pilots" / "demo";
    request.agent_program = folder / "agent";
    EXPECT_TRUE(make_directory(request.pilot_dir / "logs").has_value());
    EXPECT_TRUE(write_file(request.agent_program,
                           "#!/bin/bash\necho here\ntrap 'exit 0' TERM USR2\n"
                           "until [ -e " +
                               (folder / "release").string() + " ]; do sleep 0.1; done\n",
                           0700)
                    .has_value());
  }
  ~InsideHostTest() override {
    when("release", "");
    EXPECT_TRUE(adaptor->cancel(request, started).has_value());
    EXPECT_TRUE(remove_tree(folder).has_value());
  }

  void when(const std::string& verb, const std::string& shell) {
    EXPECT_TRUE(write_file(folder / verb, shell + "\n").has_value());
  }
  void start() {
    const auto submitted = adaptor->submit(request);
    ASSERT_TRUE(submitted.has_value()) << submitted.error().text();
    started = submitted.value();
    EXPECT_TRUE(
        eventually([&] { return tail_of_file(request.pilot_dir / "logs" / "node-1.log", 1) == "here"; }));
  }
  plugin::AllocationStatus status() { return adaptor->poll(request, {"77"}).value().at(0); }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-inside-" + random_hex(6));
  std::string job = "77";
  std::string started;
  plugin::AllocationRequest request;
  std::unique_ptr<InsideHost> adaptor;
};

TEST_F(InsideHostTest, RunsAgentsAndLeavesTheJobAlone) {
  start();
  EXPECT_EQ(started, "77");
  EXPECT_EQ(status().phase, AllocationPhase::running);
  ASSERT_TRUE(adaptor->cancel(request, "77").has_value());
  EXPECT_EQ(status().phase, AllocationPhase::ended);
  EXPECT_EQ(status().reason, "its agents have ended (end)");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "scratch"));
  EXPECT_EQ(read_file(folder / "calls").value().find("cancel"), std::string::npos) << "the job is the user's";
  EXPECT_EQ(adaptor->launch_agent(request, "77", 0).error().code, ErrorCode::not_found);
}

TEST_F(InsideHostTest, AgentsThatLeaveByThemselvesHaveEnded) {
  start();
  when("release", "");
  ASSERT_TRUE(eventually([&] { return status().phase == AllocationPhase::ended; }));
  EXPECT_TRUE(adaptor->cancel(request, "77").has_value());
}

TEST_F(InsideHostTest, TheJobsEndIsTheirEnd) {
  start();
  when("poll", "echo '77 ended'");
  EXPECT_EQ(status().phase, AllocationPhase::ended);
}

TEST_F(InsideHostTest, RefusesMoreNodesThanTheJobHas) {
  request.nodes = 2;
  EXPECT_EQ(adaptor->submit(request).error().text(), "2 nodes are wanted, but job 77 has 1");
}

TEST_F(InsideHostTest, OutsideOfAJobThereIsNothing) {
  job = "";
  EXPECT_EQ(adaptor->check(request.spec).error().code, ErrorCode::usage);
  EXPECT_THAT(adaptor->submit(request).error().text(), HasSubstr("is the batch job that pilot runs in"));
  EXPECT_FALSE(adaptor->render(request).has_value());
}

TEST_F(InsideHostTest, AgentsAreStoppedWhereTheyRun) {
  start();
  job = "78";
  EXPECT_EQ(adaptor->cancel(request, "77").error().text(),
            "the agents run in job 77, and this is not in it; stop it there, or end the job");
  job = "77";
}

TEST_F(InsideHostTest, TheScriptHasNoDirectives) {
  const auto text = adaptor->render(request).value();
  EXPECT_EQ(text.find("#PLAY"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("on_each_node() {\n  \"$@\"\n}")) << "beside the job's other steps";
}

}  // namespace
}  // namespace pilot::adaptors::host
