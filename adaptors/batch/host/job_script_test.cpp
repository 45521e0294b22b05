#include "adaptors/batch/host/job_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/test_support.hpp"
#include "pilot/proc/command_run.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"

namespace pilot::adaptors::host {
namespace {

using testing::HasSubstr;
using testing::Not;

using pilot::test::eventually;

// A batch system of one node, this machine: the script runs as it does in a job, with an agent that says
// how it was called and waits for the end.
class JobScriptTest : public testing::Test {
 protected:
  JobScriptTest() {
    request.pilot_id = random_hex(16);
    request.allocation = "a0";
    request.nodes = 1;
    request.spec.name = "demo";
    request.spec.scratch = (folder / "scratch $X").string();
    request.pilot_dir = folder / "the pilot's \"folder\" $HOME `id`";
    request.agent_program = folder / "an agent; rm";
    EXPECT_TRUE(make_directory(request.pilot_dir / "logs").has_value());
    EXPECT_TRUE(make_directory(request.pilot_dir / "allocations").has_value());
    agent(
        "trap 'echo told; exit 3' TERM USR2\n"
        "echo \"$(printf '<%s>' \"$@\")\"\n"  // all at once, and when it can be told
        "while :; do sleep 0.1; done\n");
    parts.prefix = "#TEST ";
    parts.directives = {{"nodes", "#TEST --nodes=1"}, {"mem", "#TEST --mem=0"}};
    parts.job_id = "77";
    parts.rank = "0";
    parts.list_nodes = "hostname";
    parts.node_memory = "echo \"$(hostname) 1048576\"";
    parts.submit_host = "localhost";
    parts.on_each_node = "\"$@\"";
    parts.also_on_each_node = "\"$@\"";
  }
  ~JobScriptTest() override {
    for (const auto& job : jobs) proc::send_signal_to_group(job, SIGKILL);
    EXPECT_TRUE(remove_tree(folder).has_value());
  }

  void agent(const std::string& text) {
    EXPECT_TRUE(write_file(request.agent_program, "#!/bin/bash\n" + text, 0700).has_value());
  }

  model::ProcessIdentity start(std::vector<std::string> role = {}) {
    EXPECT_TRUE(write_file(script_file(request), render_job_script(request, parts), 0700).has_value());
    model::Command command;
    command.argv = {"/bin/bash", script_file(request).string()};
    command.argv.insert(command.argv.end(), role.begin(), role.end());
    command.env = {{"X", "x y"}};
    command.directory = folder.string();
    const auto started = proc::spawn(command, {parts.writes_own_output ? "" : output_file(request), {}});
    EXPECT_TRUE(started.has_value());
    jobs.push_back(started.value());
    return started.value();
  }

  std::string log() const {
    const auto text = read_file(request.pilot_dir / "logs" / "node-1.log");
    return text.has_value() ? text.value() : "";
  }
  std::string root() const { return (folder / "scratch x y").string(); }
  bool says(const std::string& words) const {
    return eventually([&] { return log().find(words) != std::string::npos; });
  }
  int count(const std::string& words) const {
    int found = 0;
    const std::string text = log();
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
  }
  std::optional<ExitRecord> record() const {
    const auto text = read_file(exit_file(request));
    return text.has_value() ? parse_exit_record(text.value()) : std::nullopt;
  }
  // The script writes it down after the agent's start, who may have spoken by then.
  pid_t agent_pid() const {
    std::string pid;
    const bool written = eventually([&] {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().filename() != "node-1.pid") continue;
        const auto text = read_file(entry.path());
        pid = text.has_value() ? text.value() : "";
      }
      return pid.ends_with('\n');
    });
    if (!written) throw std::runtime_error("there is no agent's pid");  // 0 would be our own group
    return std::stoi(pid);
  }
  // The agent can be told, and its script knows it.
  bool agent_runs() const { return says("<node>") && agent_pid() > 0; }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-script-" + random_hex(6));
  plugin::AllocationRequest request;
  JobScript parts;
  std::vector<model::ProcessIdentity> jobs;
};

TEST_F(JobScriptTest, TellsTheAgentWhatItsNodeIsAndCleansUp) {
  request.spec.cores_per_node = 3;
  start();
  ASSERT_TRUE(says("<node>")) << log() << tail_of_file(output_file(request), 9);
  const std::string scratch = root() + "/pilot-";
  EXPECT_THAT(log(), HasSubstr("<--pilot-dir><" + request.pilot_dir.string() +
                               "><--allocation><a0><--rank><0><--node><node-1><--address><"));
  EXPECT_THAT(log(), HasSubstr("><--cores><3><--memory><1048576><--scratch><" + scratch));
  EXPECT_THAT(log(), HasSubstr("-" + request.pilot_id.substr(0, 12) + "/node-1>"));
  kill(agent_pid(), SIGTERM);
  ASSERT_TRUE(eventually([&] { return record().has_value(); }));
  EXPECT_EQ(record()->job_id, "77");
  EXPECT_EQ(record()->code, 3) << "the agent's";
  EXPECT_EQ(record()->cause, "end");
  EXPECT_TRUE(std::filesystem::is_empty(root())) << "nothing is left in scratch";
}

TEST_F(JobScriptTest, AnAgentThatIsKilledComesBack) {
  start();
  ASSERT_TRUE(agent_runs());
  const pid_t first = agent_pid();
  kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return count("<node>") == 2; })) << log();
  EXPECT_THAT(log(), HasSubstr("the agent was killed by signal 9; it is started again in 1 s"));
  EXPECT_TRUE(eventually([&] { return agent_pid() != first; }));
}

TEST_F(JobScriptTest, StartingANodeTwiceIsHarmless) {
  start();
  ASSERT_TRUE(says("<node>"));
  const auto again = start({"node", "0"});
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(again); }));
  EXPECT_EQ(count("<node>"), 1) << log();
}

// The script that kept the agent running was killed, the agent was not.
TEST_F(JobScriptTest, AnAgentThatLostItsScriptIsNotDoubled) {
  const auto node = start({"node", "0"});
  ASSERT_TRUE(agent_runs());
  proc::send_signal(node, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(node); }));
  const auto again = start({"node", "0"});
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(again); }));
  EXPECT_EQ(count("<node>"), 1) << log();
}

TEST_F(JobScriptTest, TheWarningReachesTheAgentAndOnlyIt) {
  const auto job = start();
  ASSERT_TRUE(agent_runs());
  proc::send_signal(job, SIGUSR1);
  ASSERT_TRUE(says("told")) << log();
  ASSERT_TRUE(eventually([&] { return record().has_value(); }));
  EXPECT_EQ(record()->cause, "time");
}

// A node before this one was given back: the task has another rank than the one that began the job.
TEST_F(JobScriptTest, TheWarningFindsItsAgentAfterNodesHaveGone) {
  request.nodes = 2;
  request.first_node = 0;  // so that rank 1 is node-1
  parts.node_name = "second.example.org";
  start({"node", "1"});
  ASSERT_TRUE(agent_runs());
  ASSERT_TRUE(write_file(nodes_file(request), "first\nsecond\n").has_value());
  start({"end"});
  EXPECT_TRUE(says("told")) << log();
}

TEST_F(JobScriptTest, ATerminatedJobWaitsForItsAgents) {
  const auto job = start();
  ASSERT_TRUE(agent_runs());
  proc::send_signal_to_group(job, SIGTERM);  // as batch systems do: to everything at once
  ASSERT_TRUE(eventually([&] { return record().has_value(); }));
  EXPECT_EQ(record()->cause, "told to end");
  EXPECT_TRUE(std::filesystem::is_empty(root()));
}

TEST_F(JobScriptTest, AJobThatWasRequeuedDoesNotBeginAnew) {
  const auto first = start();
  ASSERT_TRUE(agent_runs());
  proc::send_signal_to_group(first, SIGTERM);
  ASSERT_TRUE(eventually([&] { return record().has_value() && !proc::is_alive(first); }));
  const auto again = start();
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(again); }));
  EXPECT_EQ(record()->cause, "requeued");
  EXPECT_EQ(count("<node>"), 1) << log();
  EXPECT_THAT(tail_of_file(output_file(request), 1), HasSubstr("job 77 was requeued"));
}

// Without a system that warns: the script's own clock.  Here it comes no sooner than an agent runs.
TEST_F(JobScriptTest, WarnsByItsOwnClock) {
  parts.warning_after = std::chrono::seconds(1);
  parts.also_on_each_node = "until grep -qs '<node>' logs/node-1.log && grep -qs . '" + root() +
                            "'/*/node-1.pid; do sleep 0.1; done; \"$@\"";
  start();
  ASSERT_TRUE(says("told")) << log();
  ASSERT_TRUE(eventually([&] { return record().has_value(); }));
  EXPECT_EQ(record()->cause, "time");
}

TEST_F(JobScriptTest, TheTimerEndsWithTheJob) {
  parts.warning_after = std::chrono::seconds(86311);
  const auto job = start();
  ASSERT_TRUE(says("<node>"));
  kill(agent_pid(), SIGTERM);
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(job); }));
  EXPECT_EQ(record()->cause, "end");
  const auto runs = [&] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto command = read_file(entry.path() / "cmdline");
      if (command.has_value() && command.value().find(script_file(request).string()) != std::string::npos)
        return true;
    }
    return false;
  };
  EXPECT_TRUE(eventually([&] { return !runs(); }));
}

// The job grew: what was gained has a script of its own, which nothing runs but its agent's start.
TEST_F(JobScriptTest, TheWarningReachesNodesThatTheJobHasGained) {
  request.allocation = "a1", request.joins_job = "77";
  start({"node", "0"});
  ASSERT_TRUE(agent_runs());
  request.allocation = "a0", request.joins_job.clear(), request.first_node = 5;
  parts.job_id = "78";
  start({"end"});
  const auto of_another = jobs.back();
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(of_another); }));
  EXPECT_EQ(count("told"), 0) << "that was another job";
  parts.job_id = "77";
  start({"end"});
  EXPECT_TRUE(says("told")) << log();
}

// A launcher that gives a bare environment, as pbsdsh does.
TEST_F(JobScriptTest, CarriesTheEnvironmentToTheNodes) {
  parts.carries_environment = true;
  parts.on_each_node = "env -i PATH=\"$PATH\" PBS_NODENUM=0 X='x y' \"$@\"";
  request.spec.batch["prologue"] = "echo \"<$AWKWARD>\" \"${PBS_NODENUM:-}\"";
  ASSERT_EQ(setenv("AWKWARD", "it's\n\"two\" $lines", 1), 0);
  const std::vector<std::string> others{"PBS_NODENUM", "script", "node", "rank", "network", "allocation"};
  for (const std::string& name : others)
    ASSERT_EQ(setenv(name.c_str(), "77", 1), 0) << "none of ours may change";
  start();
  unsetenv("AWKWARD");
  for (const std::string& name : others) unsetenv(name.c_str());
  EXPECT_TRUE(says("<it's\n\"two\" $lines> 0")) << log();
  ASSERT_TRUE(says("<node>"));
  kill(agent_pid(), SIGTERM);
  ASSERT_TRUE(eventually([&] { return record().has_value(); }));
  EXPECT_FALSE(std::filesystem::exists(environment_file(request))) << "it may hold secrets";
}

// Who submits has more than a job begins with: variables, and functions such as `module`.
TEST_F(JobScriptTest, TakesTheEnvironmentOfWhoSubmits) {
  parts.carries_environment = true;
  parts.on_each_node = "env -i PATH=\"$PATH\" X='x y' \"$@\"";
  request.spec.batch["prologue"] = "module load \"$AWKWARD\"; echo \"${SLURM_JOB_ID:-no} ${NCPUS:-no}\"";
  const std::string text =
      environment_text({"AWKWARD=it's\n\"two\" $lines", "BASH_FUNC_module%%=() {  echo \"<$*>\"\n}",
                        "SLURM_JOB_ID=1", "NCPUS=1", "script=/x", "pilot_dir=/x", "CUDA_VISIBLE_DEVICES=3",
                        "BASH_FUNC_a b%%=() { :; }", "a b=1", "TMPDIR=/x"});
  EXPECT_THAT(text, Not(testing::ContainsRegex("a b|TMPDIR|SLURM|NCPUS|/x|CUDA")));
  ASSERT_TRUE(write_file(environment_file(request), text).has_value());
  start();
  EXPECT_TRUE(says("<load it's\n\"two\" $lines>\nno no")) << log();
}

// pbsdsh passes no environment on, and the scratch folder may be named by it.
TEST_F(JobScriptTest, WarnsAgentsWhoseScratchIsNamedByTheEnvironment) {
  parts.carries_environment = true;
  parts.on_each_node = "env -i PATH=\"$PATH\" \"$@\"";
  request.spec.scratch = "$OF_THE_JOB/tmp";
  ASSERT_EQ(setenv("OF_THE_JOB", (folder / "of the job").c_str(), 1), 0);
  start();
  unsetenv("OF_THE_JOB");
  ASSERT_TRUE(agent_runs()) << log();
  start({"end"});
  EXPECT_TRUE(says("told")) << log();
}

// Lustre without the option for it, NFS without its daemon, a machine without the program.
TEST_F(JobScriptTest, GoesOnWhereNothingCanBeLocked) {
  const auto tools = folder / "tools";
  ASSERT_TRUE(make_directory(tools).has_value());
  ASSERT_TRUE(write_file(tools / "flock", "#!/bin/sh\nexit 71\n", 0700).has_value());
  parts.on_each_node = "PATH='" + tools.string() + "':\"$PATH\" \"$@\"";
  start();
  EXPECT_TRUE(says("can't be locked, for it lies on a file system or a machine without locks (71); going on"))
      << log();
  EXPECT_TRUE(says("<node>")) << log();
}

// PBS removes a job's TMPDIR on a node that is given back, and with it what other nodes have there.
TEST_F(JobScriptTest, ATmpdirThatAllNodesShareIsNotUsed) {
  request.spec.scratch.clear();
  const auto shared = folder / "shared";
  ASSERT_TRUE(make_directory(shared).has_value());
  parts.removes_tmpdir = true;
  parts.node_name = "\"${NODE:-first}\"";
  parts.on_each_node = "TMPDIR='" + shared.string() + "' \"$@\"";
  const auto begin_with = [&](const std::string& other_node) {
    parts.also_on_each_node = "NODE=" + other_node + " " + parts.on_each_node;
    parts.list_nodes =
        "TMPDIR='" + shared.string() + "'; hostname";  // of the job's own shell, as PBS sets it
    const auto job = start();
    EXPECT_TRUE(says("<node>")) << log() << tail_of_file(output_file(request), 9);
    const bool used = log().find("<--scratch><" + shared.string()) != std::string::npos;
    proc::send_signal_to_group(job, SIGTERM);
    EXPECT_TRUE(eventually([&] { return record().has_value(); }));
    return used;
  };
  EXPECT_FALSE(begin_with("second"));
  EXPECT_TRUE(remove_tree(request.pilot_dir / "logs" / "node-1.log").has_value());
  EXPECT_TRUE(remove_tree(nodes_file(request)).has_value());  // another job
  EXPECT_TRUE(begin_with("first")) << "its own is";
}

// PBS ends a task's session; a service has its own.
TEST_F(JobScriptTest, WhatIsLeftWhenTheJobsTmpdirHasGoneIsEnded) {
  request.spec.scratch.clear();
  const auto own = folder / "own tmp";
  ASSERT_TRUE(make_directory(own).has_value());
  parts.removes_tmpdir = true;
  parts.list_nodes = "export TMPDIR='" + own.string() + "'; hostname";
  agent("setsid sleep 300 & echo \"service $!.\"; sleep 300\n");
  const auto job = start();
  ASSERT_TRUE(says("service ")) << log() << tail_of_file(output_file(request), 9);
  const pid_t service = std::stoi(log().substr(log().find("service ") + 8));
  EXPECT_EQ(kill(agent_pid(), SIGKILL), 0);
  proc::send_signal_to_group(job, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !proc::is_alive(job); }));
  EXPECT_EQ(kill(service, 0), 0) << "it has outlived them";
  ASSERT_TRUE(remove_tree(own).has_value());
  EXPECT_TRUE(eventually([&] {
    const auto state = read_file("/proc/" + std::to_string(service) + "/stat");
    return !state.has_value() || state.value().find(") Z") != std::string::npos;
  }));
}

// PBS sets it to what was asked for, which is 1 where whole nodes were; nproc(1) minds it.
TEST_F(JobScriptTest, CountsAllCoresOfANodeThatIsOurs) {
  parts.on_each_node = "export OMP_NUM_THREADS=77; \"$@\"";
  start();
  ASSERT_TRUE(says("<--cores><"));
  EXPECT_THAT(log(), Not(HasSubstr("<--cores><77>"))) << log();
}

// As an MPI's: what it sets is its own affair, and the node knows its place by its name.
TEST_F(JobScriptTest, AnotherLauncherStartsTheAgents) {
  parts.on_each_node = "false";
  parts.rank = "\"$NO_SUCH_RANK\"";
  parts.list_nodes = "echo other; hostname";
  request.nodes = 2;
  request.spec.batch["launcher"] = "env -i PATH=\"$PATH\" X='x y'";
  start();
  EXPECT_TRUE(eventually([&] {
    const auto text = read_file(request.pilot_dir / "logs" / "node-2.log");
    return text.has_value() && text.value().find("<--rank><1><--node><node-2>") != std::string::npos;
  })) << tail_of_file(output_file(request), 9);
}

TEST_F(JobScriptTest, WritesItsOutputWhileItRuns) {
  parts.writes_own_output = true;
  parts.on_each_node = "echo here; \"$@\"";
  request.allocation = "a1";
  start();
  EXPECT_TRUE(eventually([&] { return tail_of_file(output_file(request), 1) == "here"; }));
}

TEST_F(JobScriptTest, TheProloguePreparesTheNode) {
  request.spec.batch["prologue"] = "export GREETING='it works'\n# a comment at the end";
  agent("echo \"$GREETING\"\n");
  start();
  EXPECT_TRUE(says("it works")) << log();
}

TEST_F(JobScriptTest, SaysWhichAddressesThereAre) {
  request.spec.batch["network"] = "ib7";
  const auto node = start({"node", "0"});
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(node); }));
  EXPECT_THAT(log(), HasSubstr("network 'ib7' gives no address; this node has: lo 127.0.0.1"));
}

TEST_F(JobScriptTest, ASubnetChoosesTheAddress) {
  request.spec.batch["network"] = "127.0.0.0/8";
  start();
  EXPECT_TRUE(says("<--address><127.0.0.1>")) << log();
}

// Who names a folder does not want another one.
TEST_F(JobScriptTest, RefusesScratchThatCannotBeUsed) {
  request.spec.scratch = "/proc/nowhere";
  const auto node = start({"node", "0"});
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(node); }));
  EXPECT_THAT(log(), HasSubstr("no files can be made in '/proc/nowhere'"));
  EXPECT_THAT(log(), Not(HasSubstr("<node>")));
}

TEST_F(JobScriptTest, ExtraAndSkippedDirectives) {
  request.spec.batch["extra"] = "--switches=1\n\n#TEST --licenses=foo:4\n";
  request.spec.batch["skip"] = "mem, x";
  const std::string text = render_job_script(request, parts);
  EXPECT_TRUE(text.starts_with("#!/bin/bash\n#TEST --nodes=1\n#TEST --switches=1\n#TEST --licenses=foo:4\n"))
      << text.substr(0, 200);
}

TEST(ScriptOptionsTest, RefusesWhatMakesNoSense) {
  model::PilotSpec spec;
  spec.batch["skip"] = "mem exclusiv";
  EXPECT_EQ(check_script_options(spec, {"mem", "exclusive"}).error().text(),
            "batch.skip: pilot writes no directive 'exclusiv'; it writes mem, exclusive");
  spec.batch = {{"queue", "a\nb"}};
  EXPECT_EQ(check_script_options(spec, {}).error().text(), "batch.queue has control characters");
  spec.batch = {{"prologue", "a\nb"}, {"extra", "a\nb"}};
  EXPECT_TRUE(check_script_options(spec, {}).has_value());
  spec.scratch = "/a\nb";
  EXPECT_FALSE(check_script_options(spec, {}).has_value());
}

TEST(ScriptOptionsTest, ANetworkIsAnInterfaceOrASubnet) {
  model::PilotSpec spec;
  for (const char* good : {"auto", "ib0", "bond0.12", "10.0.0.0/8", "0.0.0.0/0"}) {
    spec.batch["network"] = good;
    EXPECT_TRUE(check_script_options(spec, {}).has_value()) << good;
  }
  for (const char* bad : {"10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/8x", "/8", "a b;c", "ib0,ib1",
                          "interface-of-16-"}) {
    spec.batch["network"] = bad;
    EXPECT_TRUE(check_script_options(spec, {}).has_error()) << bad;
  }
}

TEST(ExitRecordTest, Parses) {
  const auto record = parse_exit_record("12.head 0 1795980950 told to end\n");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(*record, (ExitRecord{"12.head", 0, WallTime{std::chrono::seconds(1795980950)}, "told to end"}));
  for (const char* text : {"", "12", "12 x 1", "12 0", "12 0 99999999999999999"})
    EXPECT_FALSE(parse_exit_record(text).has_value()) << text;
}

}  // namespace
}  // namespace pilot::adaptors::host
