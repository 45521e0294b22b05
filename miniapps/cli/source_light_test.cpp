// The verb as it is typed, against librdkafka's mock brokers.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "miniapps/cli/cluster_options.hpp"
#include "miniapps/cli/command_tree.hpp"
#include "miniapps/transports/kafka/consumer.hpp"
#include "miniapps/transports/kafka/mock_cluster.hpp"

namespace miniapps::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out, err;
};

class SourceLightVerb : public testing::Test {
 protected:
  SourceLightVerb() {
    folder = std::filesystem::temp_directory_path() / ("source_light_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    for (const char* variable : {"PILOT_KAFKA_CONFIG", "KAFKA_BOOTSTRAP_SERVERS"}) unsetenv(variable);
  }
  ~SourceLightVerb() override { std::filesystem::remove_all(folder); }

  static Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), "miniapp");
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.code = run_command_tree(static_cast<int>(argv.size()), argv.data());
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }
  static Outcome light(std::vector<std::string> words) {
    words.insert(words.begin(), {"source", "light"});
    return run(std::move(words));
  }
  // A small scan of 4 messages.
  static Outcome small(std::vector<std::string> words) {
    words.insert(words.begin(), {"--phantom", "disc", "--size", "32", "--angles", "6", "--slices", "8"});
    return light(std::move(words));
  }

  std::filesystem::path folder;
};

TEST_F(SourceLightVerb, SendsAScanAndReports) {
  transports::kafka::MockCluster cluster(2);
  cluster.make_topic("frames", 4);
  const std::string bootstrap = cluster.config().bootstrap();
  const auto outcome =
      small({"--bootstrap", bootstrap, "--count", "10", "--rate", "200/s", "--json", "--progress", "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["schema"], "miniapp.source/1");
  EXPECT_EQ(report["acked"], 10);
  EXPECT_EQ(report["blocks_per_scan"], 4);
  EXPECT_EQ(report["complete"], true);
  const auto last =
      nlohmann::json::parse(outcome.err.substr(0, outcome.err.find("\nrun "))
                                .substr(outcome.err.substr(0, outcome.err.find("\nrun ")).rfind('{')));
  EXPECT_EQ(last["event"], "progress");
  EXPECT_EQ(last["acked"], 10);

  auto consumer = transports::kafka::make_consumer(cluster.config(), {.topic = "frames", .group = "g"});
  ASSERT_TRUE(consumer) << consumer.error().text();
  int received = 0;
  const pilot::Deadline deadline(pilot::system_clock(), 20s);
  while (received < 10 && !deadline.passed()) received += consumer.value()->receive(100ms).value() ? 1 : 0;
  EXPECT_EQ(received, 10);
}

TEST_F(SourceLightVerb, WritesAFileThatItCanSend) {
  const auto file = (folder / "scan.h5").string();
  const auto written = small({"--write", file});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.err, HasSubstr("6 angles x 8 slices x 32 columns, 10 flats, 10 darks"));
  transports::kafka::MockCluster cluster(1);
  cluster.make_topic("frames", 1);
  const auto sent = light({"--input", file, "--bootstrap", cluster.config().bootstrap(), "--json"});
  EXPECT_EQ(sent.code, 0) << sent.err;
  EXPECT_EQ(nlohmann::json::parse(sent.out)["acked"], 4) << "by default one scan";
}

TEST_F(SourceLightVerb, AsksThePilotForItsCluster) {
  transports::kafka::MockCluster cluster(1);
  cluster.make_topic("frames", 1);
  std::ofstream(folder / "client.properties") << "bootstrap.servers=" << cluster.config().bootstrap() << "\n";
  std::ofstream(folder / "pilot")
      << "#!/bin/sh\n[ \"$*\" = 'env demo --json' ] || { echo \"pilot: no pilot '$2'\" >&2; exit 3; }\n"
      << "echo '{\"schema\":\"pilot.env/1\",\"exports\":{\"PILOT_KAFKA_CONFIG\":\""
      << (folder / "client.properties").string() << "\"}}'\n";
  std::filesystem::permissions(folder / "pilot", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  const auto sent = small({"--pilot", "demo"});
  const auto unknown = small({"--pilot", "dmeo"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(sent.code, 0) << sent.err;
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("no pilot 'dmeo'"));
}

TEST_F(SourceLightVerb, TakesTheClusterFromTheEnvironment) {
  transports::kafka::MockCluster cluster(1);
  cluster.make_topic("frames", 1);
  setenv("KAFKA_BOOTSTRAP_SERVERS", cluster.config().bootstrap().c_str(), 1);
  EXPECT_EQ(small({}).code, 0);
  setenv("PILOT_KAFKA_CONFIG", "/nonexistent/x", 1);
  const auto outcome = small({});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("PILOT_KAFKA_CONFIG"), HasSubstr("/nonexistent/x")));
}

TEST_F(SourceLightVerb, AMissingTopicIsNotFound) {
  transports::kafka::MockCluster cluster(1);
  cluster.make_topic("frames", 1);
  const auto outcome =
      small({"--bootstrap", cluster.config().bootstrap(), "--topic", "framse", "--no-create"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("there is no topic 'framse'\nhint: did you mean 'frames'?"));
}

TEST_F(SourceLightVerb, MistakesGetASuggestion) {
  const auto check = [](const Outcome& outcome, const std::string& message) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  };
  check(run({"sorce"}), "unknown word 'sorce'\nhint: did you mean 'source'?");
  check(run({"source", "ligth"}), "unknown word 'ligth'\nhint: did you mean 'light'?");
  check(run({}), "'miniapp' wants to know what");
  check(light({"--rtae", "3"}), "unknown option '--rtae'\nhint: did you mean '--rate'?");
  check(light({"--rtae=3"}), "did you mean '--rate'?");
  check(light({"--phantom", "shep-logan"}),
        "unknown phantom 'shep-logan'\nhint: did you mean 'shepp-logan'?");
  check(light({}), "give a scan: either --input FILE or --phantom NAME");
  check(light({"--count", "-1"}), "--count: Value -1 not in range");
  check(light({"--seed", "-1"}), "--seed: Value -1 not in range");
  check(light({"--count", "3", "--scans", "2"}), "--count excludes --scans");
  check(light({"--size", "4"}), "--size: Value 4 not in range");
  check(small({}), "which Kafka cluster?\nhint: give --pilot NAME");
  check(small({"--bootstrap", "x:1", "--rate", "fast"}), "'fast' is not a rate");
  check(small({"--bootstrap", "x:1", "--progress", "jsn"}), "did you mean 'json'?");
  check(small({"--bootstrap", "x:1", "--pilot", "demo"}), "excludes");
  check(light({"--input", "x.h5", "--write", "y.h5"}), "--write needs --phantom");
}

TEST_F(SourceLightVerb, BadFilesAreExplained) {
  std::ofstream(folder / "text.h5") << std::string(4096, 'x');
  const auto text = light({"--input", (folder / "text.h5").string(), "--bootstrap", "x:1"});
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.err, HasSubstr("hint: it is not an HDF5 file"));
  EXPECT_EQ(light({"--input", (folder / "none.h5").string(), "--bootstrap", "x:1"}).code, 3);
  const auto theta = light({"--input", "x", "--theta", "0-180", "--bootstrap", "x:1"});
  EXPECT_EQ(theta.code, 2);
  EXPECT_THAT(theta.err, HasSubstr("--theta '0-180' is not FIRST:LAST\nhint: in degrees, for example 0:180"));
  const auto unwritable = small({"--write", (folder / "none" / "x.h5").string()});
  EXPECT_EQ(unwritable.code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("No such file or directory"));
}

TEST_F(SourceLightVerb, HelpBeginsWithExamples) {
  const auto help = light({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_LT(help.out.find("Examples:"), help.out.find("Usage:"));
  EXPECT_THAT(help.out, AllOf(HasSubstr("--size INT [512]"), HasSubstr("--bootstrap HOST:PORT")));
  const auto version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::StartsWith("miniapp "));
}

TEST(PilotEnvironment, GivesTheClientsConfiguration) {
  const auto config = client_config_of_pilot("p", R"({"exports":{"KAFKA_BOOTSTRAP_SERVERS":"h:1,h:2"}})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config.value().bootstrap(), "h:1,h:2");
  EXPECT_EQ(config.value().origin, "pilot 'p'");
}

TEST(PilotEnvironment, WithoutKafkaIsExplained) {
  for (const char* text : {"", "[]", "{", R"({"exports":[]})", R"({"exports":{}})", R"({"exports":{"A":1}})",
                           R"({"exports":{"KAFKA_BOOTSTRAP_SERVERS":7}})"}) {
    const auto config = client_config_of_pilot("p", text);
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().hint, HasSubstr("pilot status p"));
  }
}

}  // namespace
}  // namespace miniapps::cli
