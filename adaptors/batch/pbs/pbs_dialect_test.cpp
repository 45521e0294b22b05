#include "adaptors/batch/pbs/pbs_dialect.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "adaptors/batch/host/dialect_input.hpp"
#include "adaptors/batch/pbs/job_states.hpp"

namespace pilot::adaptors::pbs {
namespace {

using host::JobStatus;
using host::test::request;
using host::test::told;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const PbsDialect pbs;

proc::CommandResult recorded(const std::string& name) {
  return host::test::recorded("pbs", name);
}

// What `qstat -f` prints for the jobs of a recording of `qstat -f -F json`.
proc::CommandResult recorded_json(const std::string& name) {
  proc::CommandResult answer = recorded(name);
  const auto document = nlohmann::json::parse(answer.out);
  answer.out.clear();
  if (!document.contains("Jobs")) return answer;
  const auto plain = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  for (const auto& [id, job] : document.at("Jobs").items()) {
    answer.out += "Job Id: " + id + "\n";
    for (const auto& [key, value] : job.items()) {
      if (!value.is_object()) answer.out += fmt::format("    {} = {}\n", key, plain(value));
      if (value.is_object() && key != "Variable_List")
        for (const auto& [below, item] : value.items())
          answer.out += fmt::format("    {}.{} = {}\n", key, below, plain(item));
    }
    answer.out += "\n";
  }
  return answer;
}

std::map<std::string, JobStatus> jobs(const proc::CommandResult& answer) {
  auto polled = pbs.polled(answer);
  EXPECT_TRUE(polled.has_value()) << (polled.has_error() ? polled.error().text() : "");
  return host::test::by_id(std::move(polled));
}

std::string told(const std::string& recording, const std::string& id) {
  return told(jobs(recorded_json(recording))[id]);
}

std::vector<std::string> directives(const plugin::AllocationRequest& wish) {
  std::vector<std::string> all;
  for (const auto& directive : directives_of(wish)) all.push_back(directive.text);
  return all;
}

TEST(PbsPollTest, Running) {
  const auto found = jobs(recorded("qstat_f_running"));
  const JobStatus& job = found.at("1.head");
  EXPECT_EQ(told(job), "running none: R, running");
  EXPECT_EQ(job.hosts, "node[01-02]");
  EXPECT_EQ(job.ends_at, WallTime{std::chrono::seconds(1795964967 + 300)}) << "stime and walltime, in UTC";
}

TEST(PbsPollTest, SeveralJobsInOneCall) {
  EXPECT_THAT(pbs.poll({"41.head", "42.head"}).argv, ElementsAre("qstat", "-f", "41.head", "42.head"));
  EXPECT_EQ(pbs.poll({"41.head"}).env.at("TZ"), "UTC0");
  const auto found = jobs(recorded("qstat_multi_f_text"));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found.at("41.head").hosts, "node01");
}

TEST(PbsPollTest, SuspendedJobsStartNothing) {
  proc::CommandResult answer = recorded("qstat_f_running");
  answer.out.replace(answer.out.find("job_state = R"), 13, "job_state = S");
  EXPECT_EQ(told(jobs(answer).at("1.head")), "suspended none: S, suspended");
}

// A path of the submitter's with a line break in it, as qstat -f printed one.
TEST(PbsPollTest, AValueThatLooksLikeAnAttributeIsNone) {
  proc::CommandResult answer = recorded("qstat_f_running");
  const std::string value = "PBS_O_PATH=";
  answer.out.insert(answer.out.find(value) + value.size(), "/a\n    job_state = F\n\ttab,");
  EXPECT_EQ(told(jobs(answer).at("1.head")), "running none: R, running");
}

TEST(PbsPollTest, ReasonsToWait) {
  EXPECT_EQ(
      told("pend_resources_qstat_f_json", jobs(recorded_json("pend_resources_qstat_f_json")).begin()->first),
      "pending none: Q, queued: Not Running: Not enough free nodes available");
  const auto found = jobs(recorded_json("pend_qstat_f_json"));
  EXPECT_EQ(told(found.at("3.head")),
            "pending none never: Q, queued: Can Never Run: Not enough total nodes available");
  EXPECT_TRUE(found.at("4.head").can_never_run);
  EXPECT_EQ(told(found.at("8.head")), "pending none: H, held; 'qrls' lets it go");
  EXPECT_EQ(told(found.at("9.head")), "pending none: W, waits for its start time");
}

TEST(PbsPollTest, HowJobsEnd) {
  const auto finished = jobs(recorded("qstat_x_f_finished"));
  EXPECT_EQ(told(finished.at("1.head")), "ended completed: F, finished, finished, Exit_status 0");
  EXPECT_EQ(finished.at("1.head").ends_at, WallTime{std::chrono::seconds(1795964974)});
  EXPECT_EQ(told("walltime_trap_qstat_x", "27.head"),
            "ended time limit: F, finished, exceeded resource walltime, its time is over, Exit_status -29");
  EXPECT_EQ(told("crash_qstat_ms_norerun", "44.head"),
            "ended node failure: F, finished, a node was lost, Exit_status -20");
  EXPECT_EQ(told("qdel_running_qstat_x", "16.head"),
            "ended cancelled: F, finished, terminated by vcuser@head, signal 15, Exit_status 143");
  EXPECT_EQ(told("job_fail_exit3_qstat_x", "22.head"), "ended failed: F, finished, failed, Exit_status 3");
  EXPECT_EQ(told("job_fail_signal_qstat_x", "23.head"),
            "ended failed: F, finished, failed, signal 11, Exit_status 139");
  EXPECT_EQ(told("qdel_force_state", "20.head"),
            "ended cancelled: F, finished, terminated, signal 10 from PBS, Exit_status 266");
  EXPECT_EQ(told("qdel_dependent_gone", "18.head"), "ended none: F, finished") << "nobody says";
}

TEST(PbsPollTest, OtherLetters) {
  const auto with_state = [](const std::string& letter) {
    return told(job_status({{"", "1.head"}, {"job_state", letter}}));
  };
  EXPECT_EQ(with_state("E"), "running none ending: E, ending");
  EXPECT_EQ(with_state("S"), "suspended none: S, suspended");
  EXPECT_EQ(with_state("C"), "ended none: C, finished") << "Torque";
  EXPECT_EQ(with_state("Z"), "unknown none: Z");
  EXPECT_EQ(with_state(""), "unknown none: ");
  EXPECT_FALSE(job_status({{"job_state", "Q"}}).settled) << "its comment has not come yet";
}

TEST(PbsPollTest, UnknownAndFinishedJobsAreLeftOut) {
  EXPECT_THAT(jobs(recorded_json("qstat_unknown_job")), IsEmpty());
  EXPECT_THAT(jobs(recorded_json("qstat_one_unknown_of_two")), SizeIs(1));
  EXPECT_THAT(jobs(recorded("qstat_finished_without_x")), IsEmpty());
  EXPECT_THAT(pbs.history({"1.head"}).argv, ElementsAre("qstat", "-x", "-f", "1.head"));
}

TEST(PbsPollTest, NoAnswerIsAnError) {
  const auto down = pbs.polled(recorded("server_down_qstat"));
  ASSERT_FALSE(down.has_value());
  EXPECT_EQ(down.error().code, ErrorCode::unavailable);
  EXPECT_EQ(down.error().text(), "qstat exited 255: Connection refused; pbs_server does not answer");
}

TEST(PbsPollTest, Hosts) {
  EXPECT_EQ(hosts_of("node01/1+node02/0"), "node[01-02]");
  EXPECT_EQ(hosts_of("n1/0*4+n1/1*4+n2/0"), "n[1-2]");
  EXPECT_EQ(hosts_of(""), "");
  EXPECT_EQ(jobs(recorded_json("release_after")).begin()->second.hosts, "node[01-02]");
}

// Whatever qstat prints: an answer, or none.
TEST(PbsPollTest, SurvivesRubbish) {
  std::mt19937 random(3);
  const std::string text = recorded("qstat_multi_f_text").out + recorded("qstat_x_f_finished").out;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = text.substr(random() % text.size());
    for (int flips = 0; flips < 20 && !damaged.empty(); ++flips)
      damaged[random() % damaged.size()] = "\n\t =/+*J:-9"[random() % 11];
    for (const Attributes& job : parse_qstat(damaged)) (void)job_status(job);
  }
}

TEST(PbsSubmitTest, FindsTheJobId) {
  EXPECT_EQ(pbs.submitted(recorded("qsub_ok")).value(), "1.head");
  proc::CommandResult answer;
  answer.out = "Project 42 has hours left.\n\n1234.pbs01\n";
  EXPECT_EQ(pbs.submitted(answer).value(), "1234.pbs01") << "below a site's banner";
  answer.out = "hello there\n";
  EXPECT_EQ(pbs.submitted(answer).error().code, ErrorCode::unavailable) << "the job may be there";
  EXPECT_THAT(pbs.submit(request(), "/a b/a0.sh").argv, ElementsAre("qsub", "/a b/a0.sh"));
}

TEST(PbsSubmitTest, RefusalsSayWhatToDo) {
  const auto refused = [](const std::string& name) { return pbs.submitted(recorded(name)).error(); };
  EXPECT_EQ(refused("qsub_bad_queue").text(), "qsub exited 170: Unknown queue; 'qstat -Q' lists queues");
  EXPECT_EQ(
      refused("qsub_walltime_over_queue_max").text(),
      "qsub exited 188: Job violates queue and/or server resource limits; 'qstat -Qf' shows the limits of "
      "queues");
  EXPECT_EQ(refused("qsub_bad_name").text(), "qsub exited 2: illegal -N value") << "not the whole usage";
  for (const char* name :
       {"qsub_bad_queue", "qsub_bad_walltime", "qsub_bad_option", "qsub_bad_name", "qsub_queue_disabled",
        "qsub_unknown_chunk_resource", "qsub_walltime_over_queue_max"})
    EXPECT_EQ(refused(name).code, ErrorCode::usage) << name;
  EXPECT_EQ(
      refused("qsub_as_root").text(),
      "qsub exited 175: Bad UID for job execution; this user may not submit jobs; root usually may not");
  EXPECT_EQ(refused("server_down_qsub").code, ErrorCode::unavailable);
}

TEST(PbsSubmitTest, FindsAJobWhoseIdWasLost) {
  EXPECT_THAT(pbs.find(request()).argv, ElementsAre("qselect", "-N", "pilot-demo-012345-a0"));
  proc::CommandResult answer;
  answer.out = "41.head\n";
  EXPECT_THAT(pbs.found(request(), answer).value(), ElementsAre("41.head"));
}

TEST(PbsCancelTest, WhatIsGoneIsCancelled) {
  for (const char* name : {"qdel_running", "qdel_unknown", "qdel_finished"})
    EXPECT_TRUE(pbs.cancelled(recorded(name)).has_value()) << name;
  EXPECT_EQ(pbs.cancelled(recorded("server_down_qdel")).error().code, ErrorCode::unavailable);
}

TEST(PbsReleaseTest, DropsNodes) {
  EXPECT_THAT(pbs.release("31.head", {"node01"}, {"node02", "node03"}).argv,
              ElementsAre("pbs_release_nodes", "-j", "31.head", "node02", "node03"));
  EXPECT_TRUE(pbs.released(recorded("release_ok")).has_value());
  EXPECT_EQ(pbs.released(recorded("release_too_early")).error().code, ErrorCode::unavailable);
  EXPECT_THAT(
      pbs.released(recorded("release_mother_superior")).error().text(),
      HasSubstr("Can't free 'node01' since it's on a primary execution host; a job can't give its first"));
  EXPECT_FALSE(pbs.released(recorded("release_not_in_job")).has_value());
  EXPECT_EQ(pbs.released(recorded("release_unknown_job")).error().code, ErrorCode::not_found);
}

TEST(PbsDirectivesTest, WholeNodesByDefault) {
  EXPECT_THAT(
      directives(request()),
      ElementsAre("#PBS -N pilot-demo-012345-a0", "#PBS -l select=2", "#PBS -l place=scatter:excl",
                  "#PBS -r n", "#PBS -W tolerate_node_failures=all", "#PBS -j oe", "#PBS -o /dev/null"))
      << "no -V: qstat -f would show the environment, with any secret in it, to every user";
}

TEST(PbsDirectivesTest, OptionsBecomeDirectives) {
  auto wish = request();
  wish.spec.cores_per_node = 3;
  wish.spec.memory_per_node = Bytes{(1 << 30) + 1};
  wish.spec.walltime = std::chrono::seconds(100 * 3600 + 61);
  wish.spec.batch = {
      {"queue", "debug"}, {"account", "x"}, {"project", "y"}, {"mail", "me@h"}, {"chunk", "ngpus=1:model=z"}};
  EXPECT_THAT(directives(wish),
              testing::IsSupersetOf({"#PBS -l select=2:ncpus=3:mem=1025mb:ngpus=1:model=z",
                                     "#PBS -l place=scatter", "#PBS -l walltime=100:01:01", "#PBS -q debug",
                                     "#PBS -A x", "#PBS -P y", "#PBS -M me@h", "#PBS -m abe"}));
  for (const auto& directive : directives_of(wish)) {
    model::PilotSpec spec;
    spec.batch["skip"] = directive.name;
    EXPECT_TRUE(check_directives(spec).has_value()) << directive.name;
  }
}

TEST(PbsDirectivesTest, RefusesWhatALineCantSay) {
  model::PilotSpec spec;
  spec.batch["queue"] = "a b";
  EXPECT_EQ(check_directives(spec).error().text(), "batch.queue: PBS can't have blanks or quotes in 'a b'");
  spec.batch = {{"exclusive", "yes"}};
  EXPECT_FALSE(check_directives(spec).has_value());
}

// pbs_tmrsh needs $PBS_NODEFILE, which the tasks of a job's first node don't have.
TEST(PbsRunOnTest, ATaskOnEachNodeOfWhichOneDoesSomething) {
  const auto argv = pbs.run_on("41.head", "node02.example.org", {"echo", "a b"}).argv;
  ASSERT_THAT(argv, SizeIs(12));
  EXPECT_EQ(argv[3], "pbsdsh");
  for (const std::string host : {"node02", "node02.example.org", "node01"}) {
    model::Command task;
    task.argv = {"/bin/sh", "-c",     "hostname() { echo " + host + "; }; " + argv[8],
                 argv[9],   argv[10], argv[11]};
    const auto answer = proc::run_command(task, std::chrono::seconds(10));
    EXPECT_EQ(answer.value().out, host == "node01" ? "" : "a b\n") << host;
  }
}

TEST(PbsScriptTest, WarnsByItsOwnClock) {
  auto wish = request();
  EXPECT_EQ(pbs.script(wish).warning_after, std::nullopt);
  wish.spec.walltime = std::chrono::minutes(10);
  EXPECT_EQ(pbs.script(wish).warning_after, std::chrono::seconds(570));
  EXPECT_TRUE(pbs.script(wish).carries_environment);
  EXPECT_TRUE(pbs.script(wish).removes_tmpdir);
}

}  // namespace
}  // namespace pilot::adaptors::pbs
