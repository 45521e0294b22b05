// What every batch adaptor promises, tried on each: `local`, and Slurm and PBS with fake_batch.py in place of
// their commands (the real ones are tried by tests/e2e/20-slurm.sh and 41-pbs.sh).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "adaptors/batch/host/batch_host.hpp"
#include "adaptors/batch/local/local_adaptor.hpp"
#include "adaptors/batch/pbs/pbs_dialect.hpp"
#include "adaptors/batch/slurm/slurm_dialect.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/test_support.hpp"
#include "pilot/proc/identity.hpp"

namespace pilot::tests {
namespace {

using adaptors::host::BatchDialect;
using adaptors::host::BatchHost;
using model::AllocationPhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto patience = std::chrono::seconds(60);

using pilot::test::eventually;

std::unique_ptr<plugin::BatchAdaptor> run_dialect(std::unique_ptr<const BatchDialect> dialect) {
  adaptors::host::HostTiming timing;
  timing.first_delay = std::chrono::milliseconds(50);
  timing.poll_interval = std::chrono::milliseconds(1);
  timing.launch = std::chrono::milliseconds(500);
  return std::make_unique<BatchHost>(std::move(dialect), timing);
}

std::unique_ptr<plugin::BatchAdaptor> make(const std::string& name) {
  if (name == "slurm") return run_dialect(std::make_unique<adaptors::slurm::SlurmDialect>());
  if (name == "pbs") return run_dialect(std::make_unique<adaptors::pbs::PbsDialect>());
  return std::make_unique<adaptors::local::LocalAdaptor>();
}

struct Agent {
  pid_t pid = 0;
  pid_t parent = 0;
  int rank = 0;
  bool operator<(const Agent& other) const { return rank < other.rank; }
};

class BatchContract : public testing::TestWithParam<std::string> {
 protected:
  BatchContract() : adaptor(make(GetParam())), path_before(std::getenv("PATH")) {
    EXPECT_TRUE(make_directory(folder / "bin").has_value());
    EXPECT_TRUE(make_directory(folder / "state").has_value());
    model::Command links;
    links.argv = {std::string(PILOT_SOURCE_DIR) + "/tests/contract/batch/fake_batch.py",
                  (folder / "bin").string()};
    setenv("FAKE_BATCH_DIR", (folder / "state").c_str(), 1);
    EXPECT_TRUE(proc::run_command(links, patience).value().succeeded());
    setenv("PATH", ((folder / "bin").string() + ":" + path_before).c_str(), 1);
    // An agent that says how it was called, ends as the real one does, and can be told to end by itself.
    EXPECT_TRUE(write_file(agent_program(),
                           "#!/bin/bash\nwhile [ $# -gt 0 ]; do [ \"$1\" != --scratch ] || scratch=$2\n"
                           "  [ \"$1\" != --pilot-dir ] || dir=$2; shift; done\n"
                           "trap 'rm -rf \"$scratch\"; exit 0' TERM USR2; mkdir -p \"$scratch\"\n"
                           "until [ -e \"$dir/release\" ]; do sleep 0.1; done; rm -rf \"$scratch\"\n",
                           0700)
                    .has_value());
  }
  ~BatchContract() override {
    for (const auto& [wish, job] : submitted) EXPECT_TRUE(adaptor->cancel(wish, job).has_value());
    EXPECT_THAT(agents(), IsEmpty());
    EXPECT_TRUE(eventually([&] { return scratch_folders().empty(); })) << scratch_folders().front();
    setenv("PATH", path_before.c_str(), 1);
    unsetenv("PBS_JOBID");
    EXPECT_TRUE(remove_tree(folder).has_value());
  }

  std::filesystem::path agent_program() const { return folder / "agent's program"; }

  plugin::AllocationRequest request(int nodes) {
    plugin::AllocationRequest made;
    made.pilot_id = random_hex(16);
    made.allocation = "a0";
    made.nodes = nodes;
    made.spec.name = "demo";
    made.spec.nodes = nodes;
    made.spec.network.subnet = "127.93.0.0/16";
    made.spec.scratch = (folder / "scratch").string();
    made.pilot_dir = folder / "pilots" / ("a \"strange\" $folder; #" + std::to_string(made_requests++));
    made.agent_program = agent_program();
    EXPECT_TRUE(make_directory(made.pilot_dir / "logs").has_value());
    return made;
  }

  // More nodes for its job.
  static plugin::AllocationRequest growth_of(const plugin::AllocationRequest& base, const std::string& job,
                                             int nodes) {
    auto made = base;
    made.allocation = "a1";
    made.first_node = base.nodes + 1;
    made.nodes = nodes;
    made.joins_job = job;
    return made;
  }

  std::string submit(const plugin::AllocationRequest& wish) {
    const auto job = adaptor->submit(wish);
    EXPECT_TRUE(job.has_value()) << job.error().text();
    if (!job.has_value()) return {};
    submitted.emplace_back(wish, job.value());
    setenv("PBS_JOBID", job.value().c_str(), 1);  // the head agent, who launches agents, is in the job
    return job.value();
  }

  plugin::AllocationStatus poll(const plugin::AllocationRequest& wish, const std::string& job) {
    const auto statuses = adaptor->poll(wish, {job});
    EXPECT_TRUE(statuses.has_value() && statuses.value().size() == 1);
    return statuses.has_value() ? statuses.value().front() : plugin::AllocationStatus{};
  }

  // The agents that live, by rank.
  std::vector<Agent> agents() const {
    std::vector<Agent> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto text = read_file(entry.path() / "cmdline");
      if (!text.has_value()) continue;
      std::vector<std::string> argv;
      for (std::size_t at = 0; at < text.value().size();) {
        argv.emplace_back(text.value().c_str() + at);
        at += argv.back().size() + 1;
      }
      const auto rank = std::find(argv.begin(), argv.end(), "--rank");
      if (argv.size() < 3 || argv[1] != agent_program() || argv[2] != "node" || rank + 1 >= argv.end())
        continue;
      const auto stat = read_file(entry.path() / "stat");
      const auto name_end = stat.has_value() ? stat.value().rfind(") ") : std::string::npos;
      if (name_end == std::string::npos) continue;
      found.push_back({std::stoi(entry.path().filename()), std::stoi(stat.value().substr(name_end + 4)),
                       std::stoi(*(rank + 1))});
    }
    // The shell that plays an agent forks: for a moment its child looks like one.
    const auto all = found;
    std::erase_if(found, [&all](const Agent& one) {
      return std::any_of(all.begin(), all.end(),
                         [&one](const Agent& other) { return other.pid == one.parent; });
    });
    std::sort(found.begin(), found.end());
    return found;
  }
  std::vector<int> ranks() const {
    std::vector<int> all;
    for (const Agent& agent : agents()) all.push_back(agent.rank);
    return all;
  }
  std::vector<std::string> scratch_folders() const {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "scratch", none))
      found.push_back(entry.path());
    return found;
  }
  // As the head does.  It can be told once its folder is there; its script, if it has one, cleans up.
  void end_agent(pid_t agent, const std::string& node) const {
    const std::filesystem::path root = scratch_folders().at(0);
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(root / node); }));
    kill(agent, SIGTERM);
    EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(root / (node + ".lock")); }));
  }
  bool is_batch_system() const { return GetParam() != "local"; }
  void bring_down() { EXPECT_TRUE(write_file(folder / "state" / "down", "").has_value()); }
  void bring_up() { EXPECT_TRUE(remove_tree(folder / "state" / "down").has_value()); }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-batch-" + random_hex(6));
  std::unique_ptr<plugin::BatchAdaptor> adaptor;
  std::string path_before;
  int made_requests = 0;
  std::vector<std::pair<plugin::AllocationRequest, std::string>> submitted;
};

// What only a batch system can do.
class BatchSystem : public BatchContract {};

// Where running jobs can be made bigger.
class GrowingSystem : public BatchContract {};

TEST_P(BatchContract, OneAgentPerNodeAndNothingAfterwards) {
  auto three = request(3);
  three.spec.walltime = std::chrono::minutes(30);
  const std::string job = submit(three);
  ASSERT_TRUE(eventually([&] { return ranks() == std::vector<int>{0, 1, 2}; }));
  const auto status = poll(three, job);
  EXPECT_EQ(status.phase, AllocationPhase::running) << status.reason;
  ASSERT_TRUE(status.ends_at.has_value());
  const Duration left = *status.ends_at - system_clock().wall();
  EXPECT_GT(left, std::chrono::minutes(28));
  EXPECT_LT(left, std::chrono::minutes(31));
  ASSERT_THAT(scratch_folders(), SizeIs(1));
  struct stat info {};
  ASSERT_EQ(::stat(scratch_folders().front().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);

  ASSERT_TRUE(adaptor->cancel(three, job).has_value());
  EXPECT_THAT(agents(), IsEmpty());
  EXPECT_THAT(scratch_folders(), IsEmpty());
  EXPECT_EQ(poll(three, job).phase, AllocationPhase::ended);
  EXPECT_TRUE(adaptor->cancel(three, job).has_value()) << "it can be repeated";
}

TEST_P(BatchContract, AJobWhoseSubmitterDiedIsFound) {
  const auto two = request(2);
  EXPECT_EQ(adaptor->job_of(two).value(), "");
  const auto job = submit(two);
  EXPECT_EQ(adaptor->job_of(two).value(), job);
  EXPECT_EQ(adaptor->job_of(request(1)).value(), "") << "it is somebody else's";
}

TEST_P(BatchContract, AJobThatNobodyKnowsIsUnknown) {
  const auto one = request(1);
  const std::string strange = GetParam() == "pbs" ? "4711.elsewhere" : "4711";
  EXPECT_EQ(poll(one, strange).phase, AllocationPhase::unknown);
}

TEST_P(BatchContract, SeveralJobsInOneCallInTheirOrder) {
  const auto one = request(1);
  const std::string job = submit(one);
  const std::string strange = GetParam() == "pbs" ? "4711.elsewhere" : "4711";
  const auto statuses = adaptor->poll(one, {strange, job, strange}).value();
  ASSERT_THAT(statuses, SizeIs(3));
  EXPECT_EQ(statuses[0].phase, AllocationPhase::unknown);
  EXPECT_EQ(statuses[1].phase, AllocationPhase::running);
  EXPECT_EQ(statuses[1].job_id, job);
  EXPECT_EQ(statuses[2].phase, AllocationPhase::unknown);
}

TEST_P(BatchContract, AKilledAgentRunsAgain) {
  const auto two = request(2);
  const std::string job = submit(two);
  ASSERT_TRUE(eventually([&] { return agents().size() == 2; }));
  const auto before = agents();
  ASSERT_TRUE(adaptor->launch_agent(two, job, 1).has_value());
  EXPECT_THAT(ranks(), ElementsAre(0, 1)) << "it runs: nothing to do";
  kill(before[1].pid, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    (void)adaptor->launch_agent(two, job, 1);
    const auto now = agents();
    return now.size() == 2 && now[1].pid != before[1].pid;
  }));
  EXPECT_EQ(agents()[0].pid, before[0].pid);
  EXPECT_EQ(adaptor->launch_agent(two, job, 2).error().code, ErrorCode::not_found) << "there is no such node";
  ASSERT_TRUE(adaptor->cancel(two, job).has_value());
  EXPECT_EQ(adaptor->launch_agent(two, job, 1).error().code, ErrorCode::not_found) << "the job is over";
  EXPECT_THAT(agents(), IsEmpty());
}

// Modules, a proxy, where Java is: whatever the user has set up.
TEST_P(BatchSystem, TheSubmittersEnvironmentReachesEveryAgent) {
  ASSERT_EQ(setenv("AWKWARD", "it's\n    job_state = F", 1), 0);
  const auto two = request(2);
  const std::string job = submit(two);
  unsetenv("AWKWARD");
  ASSERT_TRUE(eventually([&] { return agents().size() == 2; }));
  for (const Agent& agent : agents()) {
    const auto environment = read_file("/proc/" + std::to_string(agent.pid) + "/environ");
    EXPECT_THAT(environment.value(), HasSubstr("AWKWARD=it's\n    job_state = F")) << agent.rank;
  }
  EXPECT_EQ(poll(two, job).phase, AllocationPhase::running) << poll(two, job).reason;
}

// Also when that which keeps an agent running on its node is gone.
TEST_P(BatchSystem, AnAgentWithoutItsScriptRunsAgain) {
  const auto two = request(2);
  const std::string job = submit(two);
  ASSERT_TRUE(eventually([&] { return agents().size() == 2; }));
  const Agent before = agents()[1];
  kill(before.parent, SIGKILL);
  kill(before.pid, SIGKILL);
  const auto launched = adaptor->launch_agent(two, job, 1);
  ASSERT_TRUE(launched.has_value()) << launched.error().text();
  ASSERT_TRUE(eventually([&] { return agents().size() == 2 && agents()[1].pid != before.pid; }));
}

TEST_P(BatchContract, SomeNodesAreGivenBackAndTheOthersStay) {
  const auto three = request(3);
  const std::string job = submit(three);
  ASSERT_TRUE(eventually([&] { return agents().size() == 3; }));
  ASSERT_TRUE(adaptor->can_release(three, job, {1}, false).has_value());
  end_agent(agents()[1].pid, "node-2");
  ASSERT_TRUE(eventually([&] { return ranks() == std::vector<int>{0, 2}; }));
  const auto released = adaptor->release(three, job, {1});
  ASSERT_TRUE(released.has_value()) << released.error().text();
  EXPECT_TRUE(adaptor->release(three, job, {1}).has_value()) << "it can be repeated";
  EXPECT_EQ(poll(three, job).phase, AllocationPhase::running) << poll(three, job).reason;
  EXPECT_EQ(adaptor->launch_agent(three, job, 1).error().code, ErrorCode::not_found);
  EXPECT_EQ(adaptor->release(three, job, {7}).error().code, ErrorCode::not_found);
  EXPECT_THAT(ranks(), ElementsAre(0, 2));
  const Agent last = agents()[1];
  kill(last.pid, SIGKILL);
  EXPECT_TRUE(eventually([&] {
    (void)adaptor->launch_agent(three, job, 2);
    return agents().size() == 2 && agents()[1].pid != last.pid;
  })) << "its rank is what it was";
  ASSERT_TRUE(adaptor->cancel(three, job).has_value());
  EXPECT_FALSE(is_batch_system() && adaptor->release(three, job, {2}).has_value()) << "the job is over";
}

// The limits that were recorded: the script's node, and without slurmdbd a second time.
TEST_P(BatchSystem, SaysWhatCannotBeGivenBack) {
  const auto three = request(3);
  const std::string job = submit(three);
  ASSERT_TRUE(eventually([&] { return agents().size() == 3; }));
  const auto first = adaptor->can_release(three, job, {0, 1}, false);
  ASSERT_FALSE(first.has_value());
  EXPECT_EQ(first.error().code, ErrorCode::usage);
  EXPECT_THAT(first.error().message, HasSubstr("can't take node01 from job"));
  const auto again = adaptor->can_release(three, job, {1}, true);
  EXPECT_EQ(again.has_value(), GetParam() == "pbs");
  if (again.has_error()) {
    EXPECT_THAT(again.error().text(), HasSubstr("resizes a job only once"));
  }
}

TEST_P(BatchContract, WhatCannotGrowSaysSo) {
  auto more = request(1);
  more.joins_job = "4711";
  EXPECT_TRUE(write_file(folder / "state" / "no_expansion", "").has_value());  // for Slurm
  const auto refused = adaptor->can_grow(more);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_THAT(refused.error().text(), testing::MatchesRegex(".*(permit_job_expansion|job).*--in-place.*"));
}

// Nodes that a job gets from another one are like its own, but for its script.
TEST_P(GrowingSystem, ARunningJobGrows) {
  const auto two = request(2);
  const std::string job = submit(two);
  ASSERT_TRUE(eventually([&] { return agents().size() == 2; }));
  const auto before = agents();
  const auto more = growth_of(two, job, 1);
  ASSERT_TRUE(adaptor->can_grow(more).has_value());
  const auto asked = adaptor->ask_to_grow(more);
  ASSERT_TRUE(asked.has_value()) << asked.error().text();
  auto grown = adaptor->grow(more, asked.value());
  ASSERT_TRUE(grown.has_value()) << grown.error().text();
  EXPECT_EQ(grown.value().job_id, job);
  EXPECT_EQ(grown.value().phase, AllocationPhase::running);
  EXPECT_EQ(adaptor->grow(more, asked.value()).value().job_id, job) << "it can be repeated";
  EXPECT_TRUE(eventually([&] { return poll(more, asked.value()).phase == AllocationPhase::ended; }));
  const auto launched = adaptor->launch_agent(more, job, 0);
  ASSERT_TRUE(launched.has_value()) << launched.error().text();
  ASSERT_TRUE(eventually([&] { return ranks() == std::vector<int>{0, 0, 1}; }));
  for (const Agent& agent : agents())
    if (agent.pid != before[0].pid && agent.pid != before[1].pid) end_agent(agent.pid, "node-3");
  const auto released = adaptor->release(more, job, {0});
  ASSERT_TRUE(released.has_value()) << released.error().text();
  EXPECT_TRUE(eventually([&] { return ranks() == std::vector<int>{0, 1}; })) << "those of the base stay";
  EXPECT_EQ(poll(two, job).phase, AllocationPhase::running);
}

// Whoever asked was killed before it could say which job asks, or before it was granted.
TEST_P(GrowingSystem, AJobThatAsksForNodesIsFoundAndCancelled) {
  const auto two = request(2);
  const std::string job = submit(two);
  ASSERT_TRUE(write_file(folder / "state" / "busy", "").has_value());
  const auto more = growth_of(two, job, 1);
  EXPECT_EQ(adaptor->grow(more, "").value().job_id, "") << "none asks";
  const auto asked = adaptor->ask_to_grow(more);
  ASSERT_TRUE(asked.has_value()) << asked.error().text();
  const auto status = adaptor->grow(more, "").value();
  EXPECT_EQ(status.job_id, asked.value());
  EXPECT_EQ(status.phase, AllocationPhase::pending) << status.reason;
  ASSERT_TRUE(adaptor->cancel(more, "").has_value());
  EXPECT_EQ(poll(more, asked.value()).phase, AllocationPhase::ended);
  EXPECT_EQ(poll(two, job).phase, AllocationPhase::running);
}

TEST_P(BatchContract, TwoPilotsDoNotMeet) {
  const auto first = request(2);
  const auto second = request(2);
  const std::string job = submit(first);
  submit(second);
  ASSERT_TRUE(eventually([&] { return agents().size() == 4; }));
  EXPECT_THAT(scratch_folders(), SizeIs(2));
  ASSERT_TRUE(adaptor->cancel(first, job).has_value());
  EXPECT_THAT(ranks(), ElementsAre(0, 1));
}

TEST_P(BatchContract, RenderingStartsNothing) {
  const auto text = adaptor->render(request(2));
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(text.value(), HasSubstr("agent"));
  EXPECT_THAT(agents(), IsEmpty());
}

TEST_P(BatchSystem, AJobEndsWithItsAgents) {
  const auto two = request(2);
  const std::string job = submit(two);
  ASSERT_TRUE(eventually([&] { return agents().size() == 2; }));
  ASSERT_TRUE(write_file(two.pilot_dir / "release", "").has_value());
  ASSERT_TRUE(eventually([&] { return poll(two, job).phase == AllocationPhase::ended; }));
  EXPECT_THAT(scratch_folders(), IsEmpty());
}

TEST_P(BatchContract, RefusesWhatCanNeverRun) {
  auto wish = request(is_batch_system() ? 5 : 65);
  const auto job = adaptor->submit(wish);
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().code, ErrorCode::usage) << job.error().text();
  EXPECT_THAT(agents(), IsEmpty());
}

TEST_P(BatchSystem, RepeatsTheSystemsWords) {
  auto wish = request(1);
  wish.spec.batch["queue"] = "nosuch";
  const auto refused = adaptor->submit(wish).error();
  EXPECT_EQ(refused.code, ErrorCode::usage);
  EXPECT_THAT(refused.text(),
              testing::MatchesRegex("cannot submit to .*(invalid partition|Unknown queue).*lists.*"));
}

TEST_P(BatchSystem, WaitsForASystemThatIsDown) {
  const auto one = request(1);
  bring_down();
  std::thread repair([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    bring_up();
  });
  const std::string job = submit(one);
  repair.join();
  bring_down();
  EXPECT_EQ(poll(one, job).phase, AllocationPhase::unknown);
  EXPECT_THAT(poll(one, job).reason, HasSubstr("does not answer"));
  EXPECT_EQ(adaptor->launch_agent(one, job, 0).error().code, ErrorCode::unavailable);
  bring_up();
  EXPECT_EQ(poll(one, job).phase, AllocationPhase::running);
}

INSTANTIATE_TEST_SUITE_P(All, GrowingSystem, testing::Values("slurm"),
                         [](const auto& name) { return name.param; });
INSTANTIATE_TEST_SUITE_P(All, BatchSystem, testing::Values("slurm", "pbs"),
                         [](const auto& name) { return name.param; });
INSTANTIATE_TEST_SUITE_P(All, BatchContract, testing::Values("local", "slurm", "pbs"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace pilot::tests
