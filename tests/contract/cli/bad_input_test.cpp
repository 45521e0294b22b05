// Each message that bad input gives, word by word.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pilot/base/random.hpp"
#include "tests/contract/cli/run_pilot.hpp"

namespace pilot::contract {
namespace {

class BadInput : public PilotTest {
 protected:
  // A folder that looks like a Java of this version.
  std::string java_of_version(const std::string& version) {
    const auto home = work / ("java-" + version);
    EXPECT_TRUE(make_directory(home / "bin").has_value());
    EXPECT_TRUE(
        write_file(home / "bin/java", "#!/bin/sh\necho 'openjdk version \"" + version + "\"' >&2\n", 0755)
            .has_value());
    return home;
  }
};

TEST_F(BadInput, WordsOfTheCommandLine) {
  refuses(2, "pilot: there is no command 'pilot strat'\nhint: did you mean 'start'?\n", {"strat"});
  refuses(2, "pilot: 'pilot start' has no flag '--ndoes'\nhint: did you mean '--nodes'?\n",
          {"start", "d", "--ndoes", "3"});
  refuses(2, "pilot: --nodes needs a value\nhint: 'pilot start --help' explains it\n",
          {"start", "d", "--nodes"});
  refuses(2, "pilot: 'pilot stop' needs NAME\nhint: 'pilot stop --help' explains it\n", {"stop"});
  refuses(2, "pilot: --progress can't be 'plian'\nhint: did you mean 'plain'?\n",
          {"list", "--progress", "plian"});
  refuses(2, "pilot: nothing to wait for is called 'raedy'\nhint: did you mean 'ready'?\n",
          {"wait", "demo", "--for", "raedy"});
}

TEST_F(BadInput, ResourceFrameworkAndOption) {
  refuses(2, "pilot: --resource: there is no resource 'lokal'\nhint: did you mean 'local'?\n",
          {"start", "demo", "--resource", "lokal"});
  refuses(2, "pilot: --framework: there is no framework 'kafak'\nhint: did you mean 'kafka'?\n",
          {"start", "demo", "--framework", "kafak"});
  refuses(
      2, "pilot: --option: framework 'kafka' has no option 'controlers'\nhint: did you mean 'controllers'?\n",
      {"start", "demo", "--framework", "kafka", "--option", "kafka.controlers=3"});
  refuses(2, "pilot: --option: the pilot has no framework 'kafka'\nhint: add --framework kafka\n",
          {"start", "demo", "--option", "kafka.controllers=3"});
  refuses(2, "pilot: there is no framework 'kafak'\nhint: did you mean 'kafka'?\n",
          {"frameworks", "install", "kafak"});
}

TEST_F(BadInput, WhatIsSetTwiceUnderBatchIsTwoLines) {
  const Outcome shown =
      run({"start", "demo", "--resource", "slurm", "--dry-run", "--batch", "extra=--switches=1", "--batch",
           "extra=--licenses=x", "--batch", "skip=mem", "--batch", "skip=exclusive"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("#SBATCH --switches=1\n#SBATCH --licenses=x\n"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("#SBATCH --mem"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("#SBATCH --exclusive"), std::string::npos) << shown.out;
}

TEST_F(BadInput, NumbersAndSizes) {
  refuses(2, "pilot: --nodes: nodes must be at least 1, not 0\n", {"start", "demo", "--nodes", "0"});
  refuses(2, "pilot: --nodes: nodes must be at least 1, not -2\n", {"start", "demo", "--nodes", "-2"});
  refuses(2, "pilot: --nodes: nodes must be a whole number, not 'three'\n",
          {"start", "demo", "--nodes", "three"});
  refuses(2, "pilot: --nodes: nodes is 65, but the resource 'local' plays at most 64\n",
          {"start", "demo", "-N", "65"});
  refuses(2, "pilot: --memory: node.memory must be a size like 512M or 2G, not 'lots'\n",
          {"start", "demo", "--memory", "lots"});
  refuses(2, "pilot: --walltime: walltime: '30' may be minutes or seconds\nhint: write 30m or 30s\n",
          {"start", "demo", "-t", "30"});
  refuses(2, "pilot: --nodes must not be empty\nhint: 'pilot start --help' explains it\n",
          {"start", "demo", "-N", ""});
  environment["PILOT_NODES"] = "0";
  refuses(2, "pilot: PILOT_NODES: nodes must be at least 1, not 0\n", {"start", "demo"});
  environment.erase("PILOT_NODES");
  environment["PILOT_NODS"] = "3";
  refuses(2, "pilot: environment variable PILOT_NODS is no setting\nhint: did you mean 'PILOT_NODES'?\n",
          {"start", "demo"});
}

TEST_F(BadInput, SpecsWithPlaces) {
  write("typo.yaml", "name: demo\nnodes: 1\nframewroks: [kafka]\n");
  refuses(2, "pilot: typo.yaml:3:1: unknown key 'framewroks'\nhint: did you mean 'frameworks'?\n",
          {"start", "-f", "typo.yaml"});
  write("type.yaml", "name: demo\nnodes: [3]\n");
  refuses(2, "pilot: type.yaml:2:8: nodes must be a whole number, not a list\n",
          {"start", "-f", "type.yaml"});
  write("negative.yaml", "name: demo\nnodes: -1\n");
  refuses(2, "pilot: negative.yaml:2:8: nodes must be at least 1, not -1\n",
          {"start", "-f", "negative.yaml"});
  write("option.yaml", "name: demo\nframeworks:\n  kafka: {controllers: 2}\n");
  const Outcome option = run({"start", "-f", "option.yaml"});
  EXPECT_EQ(option.code, 2);
  EXPECT_TRUE(option.err.starts_with("pilot: option.yaml:3:24: ")) << option.err;
  write("scenario.yaml", "pilot: {name: demo}\nsources: [light]\nprocesors: []\n");
  refuses(2, "pilot: scenario.yaml:3:1: unknown key 'procesors'\nhint: did you mean 'processors'?\n",
          {"run", "scenario.yaml"});
  EXPECT_EQ(run({"start", "-f", "missing.yaml"}).code, 3);
  write("pilot.yaml", "nodes: 0\n");
  refuses(2, "pilot: pilot.yaml:1:8: nodes must be at least 1, not 0\n", {"start", "demo"});
}

TEST_F(BadInput, NamesOfPilots) {
  refuses(3, "pilot: there is no pilot 'nope'\nhint: no pilot runs; 'pilot start' starts one\n",
          {"stop", "nope"});
  for (const char* verb : {"status", "wait", "env", "logs", "events"})
    EXPECT_EQ(run({verb, "nope"}).code, 3) << verb;
  refuses(2,
          "pilot: NAME: '../x' can't name a pilot\nhint: up to 63 letters, digits, '.', '_' and '-', "
          "beginning with a "
          "letter or digit\n",
          {"start", "../x"});
  refuses(2, "pilot: the pilot has no name\nhint: 'pilot start NAME', or 'name:' in the spec\n", {"start"});
  start("demo");
  const Outcome again = run({"start", "demo"});
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(again.err.starts_with("pilot: the name 'demo' is in use\n")) << again.err;
  const Outcome near = run({"stop", "dmeo"});
  EXPECT_EQ(near.code, 3);
  EXPECT_EQ(near.err, "pilot: there is no pilot 'dmeo'\nhint: did you mean 'demo'?\n");
}

TEST_F(BadInput, SoftwareAndJava) {
  refuses(
      3,
      "pilot: kafka is not installed\nhint: 'pilot frameworks install kafka' installs version 4.3.1 into " +
          (work / "software").string() + "\n",
      {"start", "demo", "--framework", "kafka"});
  environment["KAFKA_HOME"] = (work / "tmp").string();
  environment["JAVA_HOME"] = "/nowhere";
  refuses(2,
          "pilot: JAVA_HOME is '/nowhere', but '/nowhere/bin/java' is no program\nhint: correct or unset "
          "JAVA_HOME\n",
          {"start", "demo", "--framework", "kafka"});
  environment["JAVA_HOME"] = "";
  environment["PATH"] = (work / "tmp").string();
  refuses(3,
          "pilot: Java is missing: there is no 'java' on PATH and JAVA_HOME is not set\n"
          "hint: Debian: apt-get install openjdk-17-jre-headless; a cluster: module load java\n",
          {"start", "demo", "--framework", "kafka"});
}

TEST_F(BadInput, JavaThatIsTooOld) {
  environment["JAVA_HOME"] = java_of_version("11.0.2");
  const auto kafka = work / "kafka";
  ASSERT_TRUE(make_directory(kafka / "libs").has_value());
  ASSERT_TRUE(write_file(kafka / "libs/kafka-clients-4.3.1.jar", "").has_value());
  ASSERT_TRUE(write_file(kafka / "libs/kafka_2.13-4.3.1.jar", "").has_value());
  environment["KAFKA_HOME"] = kafka;
  const Outcome old = run({"start", "demo", "--framework", "kafka"});
  EXPECT_EQ(old.code, 2) << old.err;
  EXPECT_NE(old.err.find("is version 11, Kafka needs 17 or newer"), std::string::npos) << old.err;
}

TEST_F(BadInput, APortRangeThatIsTaken) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  socklen_t size = sizeof where;
  getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size);
  const std::string port = std::to_string(ntohs(where.sin_port));
  started.emplace_back("demo");
  const Outcome outcome = run({"start", "demo", "--ports", port + "-" + port});
  close(fd);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("pilot: pilot 'demo' failed: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(port), std::string::npos) << outcome.err;
}

TEST_F(BadInput, AFolderThatCantBeWritten) {
  write("file", "");
  environment["PILOT_HOME"] = (work / "file").string();
  const Outcome outcome = run({"start", "demo"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find((work / "file").string()), std::string::npos) << outcome.err;
}

TEST_F(BadInput, AFolderWithoutSpace) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a small file system";
  const std::string script = "mount -t tmpfs -o size=4k none " + (work / "tmp").string() +
                             " && PILOT_HOME=" + (work / "tmp/home").string() + " exec " + program +
                             " start demo";
  const Outcome outcome = run_program("/usr/bin/unshare", {"-m", "/bin/sh", "-c", script});
  if (outcome.err.find("unshare") != std::string::npos || outcome.err.find("mount:") != std::string::npos)
    GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("No space left on device"), std::string::npos) << outcome.err;
}

TEST_F(BadInput, ErrorsAreJsonWhenJsonIsAskedFor) {
  const Outcome outcome = run({"status", "nope", "--json"});
  EXPECT_EQ(outcome.code, 3);
  const auto error = nlohmann::json::parse(outcome.err, nullptr, false);
  ASSERT_TRUE(error.is_object()) << outcome.err;
  EXPECT_EQ(error["schema"], "pilot.error/1");
  EXPECT_EQ(error["code"], "not_found");
  EXPECT_EQ(error["exit_code"], 3);
  EXPECT_EQ(error["message"], "there is no pilot 'nope'");
}

}  // namespace
}  // namespace pilot::contract
