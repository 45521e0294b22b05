// pilot-kafka's verbs against librdkafka's mock brokers and against folders.
#include "adaptors/framework/kafka/tool/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "adaptors/framework/kafka/tool/properties.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::adaptors::kafka {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class Folder : public ::testing::Test {
 protected:
  Folder() : folder_(fs::temp_directory_path() / ("pilot-kafka-" + random_hex(8))) {
    EXPECT_TRUE(make_directory(folder_).has_value());
  }
  ~Folder() override { (void)remove_tree(folder_); }
  std::string file(const std::string& name, const std::string& content) {
    EXPECT_TRUE(write_file(folder_ / name, content).has_value());
    return (folder_ / name).string();
  }
  fs::path folder_;
};

class KafkaTool : public Folder {
 protected:
  void SetUp() override {
    char why[512];
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof why);
    cluster_ = rd_kafka_mock_cluster_new(handle_, 3);
    std::string all = rd_kafka_mock_cluster_bootstraps(cluster_);
    first_ = all.substr(0, all.find(','));
    second_ = all.substr(first_.size() + 1, all.find(',', first_.size() + 1) - first_.size() - 1);
    config_ = file("client", "bootstrap.servers=" + all + "\n");
  }
  void TearDown() override {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(handle_);
  }
  rd_kafka_t* handle_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
  std::string first_, second_, config_;
};

TEST_F(KafkaTool, ReadyWhenThisVeryBrokerListsAllThatAreExpected) {
  const auto ready = run_ready({"--config", config_, "--broker", first_, "--id", "1", "--expect", "1,2,3"});
  ASSERT_TRUE(ready.has_value()) << ready.error().text();
  EXPECT_EQ(ready.value(),
            R"({"schema": "pilot-kafka.ready/1", "ready": true, "broker": 1, "brokers": [1, 2, 3]})");
}

TEST_F(KafkaTool, NotReadyWhileAnExpectedBrokerIsUnseen) {
  const auto ready =
      run_ready({"--config", config_, "--broker", first_, "--id", "1", "--expect", "1,7", "--timeout", "3s"});
  ASSERT_FALSE(ready.has_value());
  EXPECT_EQ(ready.error().code, ErrorCode::timed_out);
  EXPECT_THAT(ready.error().text(), HasSubstr("broker 1 does not see broker 7 yet"));
}

TEST_F(KafkaTool, NotReadyWhenAnotherBrokerStandsAtTheAddress) {
  const auto ready = run_ready({"--config", config_, "--broker", second_, "--id", "1", "--timeout", "3s"});
  ASSERT_FALSE(ready.has_value());
  EXPECT_THAT(ready.error().text(), HasSubstr("broker 1 is at '" + first_ + "'"));
}

TEST_F(KafkaTool, SaysThatTheConnectionIsRefused) {
  const auto ready =
      run_ready({"--config", config_, "--broker", "127.0.0.1:1", "--id", "1", "--timeout", "3s"});
  ASSERT_FALSE(ready.has_value());
  EXPECT_EQ(ready.error().code, ErrorCode::timed_out);
  EXPECT_THAT(ready.error().text(), HasSubstr("Connection refused"));
}

TEST_F(KafkaTool, NotReadyWhenNobodyAnswers) {
  rd_kafka_mock_broker_set_down(cluster_, 1);
  const auto ready = run_ready({"--config", config_, "--broker", first_, "--id", "1", "--timeout", "200ms"});
  ASSERT_FALSE(ready.has_value());
  EXPECT_EQ(ready.error().code, ErrorCode::timed_out);
}

TEST_F(KafkaTool, ListsAndDescribesTopics) {
  rd_kafka_mock_topic_create(cluster_, "scans", 2, 1);
  const auto list = run_topic({"list", "--config", config_});
  ASSERT_TRUE(list.has_value()) << list.error().text();
  EXPECT_THAT(list.value(),
              HasSubstr(R"("name": "scans", "internal": false, "partitions": [{"id": 0, "leader": )"));
  EXPECT_THAT(run_topic({"describe", "scans", "--config", config_}).value(),
              HasSubstr(R"({"id": 1, "leader": )"));
}

TEST_F(KafkaTool, RefusesWrongUsage) {
  EXPECT_THAT(run_topic({"describe", "--config", config_}).error().text(),
              HasSubstr("'topic' wants: list, describe NAME"));
  EXPECT_THAT(run_topic({"list"}).error().text(), HasSubstr("'--config' is missing"));
  EXPECT_THAT(run_ready({"--conf", "x"}).error().text(),
              HasSubstr("no flag '--conf'; did you mean '--config'?"));
  EXPECT_THAT(run_ready({"--config", config_, "--broker", first_, "--id", "x"}).error().text(),
              HasSubstr("'x'"));
  EXPECT_THAT(run_topic({"create", "t", "--set", "=1", "--config", config_}).error().text(),
              HasSubstr("key=value"));
  EXPECT_EQ(run_ready({"--config", "/nowhere", "--broker", first_, "--id", "1"}).error().code,
            ErrorCode::not_found);
  const auto bad = file("bad", "no.such.setting=1\n");
  EXPECT_THAT(run_topic({"list", "--config", bad}).error().text(),
              HasSubstr("No such configuration property: \"no.such.setting\""));
}

TEST_F(KafkaTool, RefusesWrongUsageOfRebalance) {
  const auto refused = [&](Words words) {
    words.insert(words.end(), {"--config", config_});
    const auto answer = run_rebalance(words);
    EXPECT_EQ(answer.error().code, ErrorCode::usage);
    return answer.error().text();
  };
  EXPECT_THAT(refused({"--throttle", "fast"}),
              HasSubstr("'--throttle' is 'fast'; it can be auto, none, or a rate"));
  EXPECT_THAT(refused({"--throttle", "0MB/s"}), HasSubstr("'--throttle' is '0MB'"));
  EXPECT_THAT(refused({"--drain", "a"}), HasSubstr("'a'"));
  EXPECT_THAT(refused({"--timeout", "0s"}), HasSubstr("'--timeout'"));
  EXPECT_THAT(refused({"now"}), HasSubstr("takes no word 'now'"));
  EXPECT_THAT(run_unregister({"--broker", "1,2", "--config", config_}).error().text(),
              HasSubstr("is not one id"));
  EXPECT_THAT(run_topic({"grow", "t", "--config", config_}).error().text(),
              HasSubstr("'--partitions' is missing"));
}

TEST_F(KafkaTool, ACredentialThatIsWrittenInTheFileIsInNoMessage) {
  const auto secret = file("secret",
                           "bootstrap.servers=127.0.0.1:1\nsecurity.protocol=sasl_plaintext\n"
                           "sasl.mechanisms=PLAIN\nsasl.username=pilot\nsasl.password=hidden\n");
  const auto answer = run_unregister({"--broker", "1", "--config", secret, "--timeout", "1s"});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_THAT(answer.error().text(), HasSubstr("Connection refused"));
  EXPECT_THAT(answer.error().text(), ::testing::Not(HasSubstr("hidden")));
}

TEST(KafkaHealth, MissesWhatIsNotInSyncAndNotOnItsWay) {
  protocol::ClusterState state;
  state.brokers = {{1, "a", 1, ""}, {2, "b", 1, ""}};
  state.topics = {{"t", 0, false, {{0, 1, {1, 2}, {1, 2}}, {1, 2, {2, 1, 4}, {2, 1}}}}};
  const std::vector<protocol::Ongoing> moving{{"t", 1, {2, 1, 4}, {4}, {1}}};
  EXPECT_EQ(health_problem(state, moving), "");
  state.topics[0].partitions[0] = {0, 1, {1, 2, 3}, {1}};
  EXPECT_EQ(health_problem(state, moving),
            "1 of 2 partitions lack a replica in sync (broker 2 is behind, broker 3 is down)");
  state.topics[0].partitions[1] = {1, -1, {3}, {}};
  EXPECT_EQ(
      health_problem(state, {}),
      "2 of 2 partitions lack a replica in sync (broker 2 is behind, broker 3 is down), 1 can't be read or "
      "written");
}

TEST(KafkaQuorum, MostOfThoseThatVoteHaveToStay) {
  const auto voters = [](const std::vector<int>& ids) {
    std::vector<protocol::Voter> all;
    for (const int id : ids) all.push_back({std::abs(id), {}, id > 0});
    return all;
  };
  EXPECT_EQ(quorum_problem(voters({1, 2, 3}), {3}), "");
  EXPECT_EQ(quorum_problem(voters({1, 2}), {3}), "") << "it has not joined";
  EXPECT_EQ(quorum_problem(voters({1, 3}), {3}),
            "controller 3 can't leave the quorum: 1, 3 vote, and most of them have to stay");
  EXPECT_EQ(quorum_problem(voters({1, 2, -3}), {3}), "") << "it is gone already";
  EXPECT_EQ(quorum_problem(voters({1, 2, -3}), {2}),
            "controller 2 can't leave the quorum: 1, 2, 3 vote, 3 is silent, and most of them have to stay");
  EXPECT_THAT(quorum_problem(voters({1, 2, 3}), {2, 3}), HasSubstr("controller 2, 3 can't"));
}

class KafkaFormat : public Folder {
 protected:
  std::string server(int id, const std::string& role) {
    return file("server.properties",
                "process.roles=" + role + "\nnode.id=" + std::to_string(id) +
                    "\ncontroller.listener.names=CONTROLLER\nlog.dirs=" + data_.string() + "\n");
  }
  Words quorum(int id, const std::string& cluster = "c") {
    return {"--config",   server(id, "controller"),     "--cluster-id", cluster,
            "--template", file("template", "features"), "--voters",     "1001@127.0.0.1:1,1002@127.0.0.2:2"};
  }
  std::string meta() { return read_file(data_ / "meta.properties").value(); }
  const fs::path data_ = folder_ / "data";
  const fs::path snapshot_ = data_ / "__cluster_metadata-0" / "00000000000000000000-0000000000.checkpoint";
};

TEST_F(KafkaFormat, BrokerGetsItsIdentityAndNothingElse) {
  const auto formatted = run_format({"--config", server(4, "broker"), "--cluster-id", "c"});
  ASSERT_TRUE(formatted.has_value()) << formatted.error().text();
  EXPECT_THAT(formatted.value(), HasSubstr(R"("formatted": 1, "kept": 0)"));
  EXPECT_THAT(meta(), HasSubstr("version=1\ncluster.id=c\nnode.id=4\ndirectory.id="));
  EXPECT_FALSE(fs::exists(snapshot_));
}

TEST_F(KafkaFormat, ControllersAgreeOnTheVoters) {
  ASSERT_TRUE(run_format(quorum(1001)).has_value());
  const auto first = read_file(snapshot_).value();
  EXPECT_EQ(read_file(data_ / "bootstrap.checkpoint").value(), "features");
  struct stat status {};
  ASSERT_EQ(::stat(snapshot_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0400u);
  ASSERT_TRUE(remove_tree(data_).has_value());
  ASSERT_TRUE(run_format(quorum(1002)).has_value());
  // From the voters' record on; before it stand times, and a checksum over them.
  const auto second = read_file(snapshot_).value();
  EXPECT_EQ(first.substr(100, 120), second.substr(100, 120));
}

// KIP-853: its directory's id is a voter's name; one whose data are lost must not pass for the one that
// voted.
TEST_F(KafkaFormat, AControllerWithoutVotersJoinsUnderAnIdOfItsOwnEachTime) {
  auto joins = quorum(1003);
  joins.resize(6);
  ASSERT_TRUE(run_format(joins).has_value());
  EXPECT_FALSE(fs::exists(snapshot_));
  EXPECT_EQ(read_file(data_ / "bootstrap.checkpoint").value(), "features");
  const auto before = meta();
  ASSERT_TRUE(run_format(joins).has_value());
  EXPECT_EQ(meta(), before) << "it is formatted";
  ASSERT_TRUE(remove_tree(data_).has_value());
  ASSERT_TRUE(run_format(joins).has_value());
  EXPECT_NE(meta(), before);
}

// The first controller's data are gone: with the quorum that it began it may not begin another one.
TEST_F(KafkaFormat, AQuorumThatLivesOnIsNotBegunAnew) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto words = quorum(1001);
  words.back() = "1001@127.0.0.1:1";
  const auto text =
      read_file(words[1]).value() +
      "controller.quorum.bootstrap.servers=127.0.0.1:1,127.0.0.1:" + std::to_string(ntohs(address.sin_port)) +
      "\n";
  file("server.properties", text);
  ASSERT_EQ(::listen(listener, 1), 0);
  EXPECT_THAT(run_format(words).error().text(), HasSubstr("the data of controller 1001 are gone"));
  EXPECT_FALSE(fs::exists(data_ / "meta.properties"));
  ::close(listener);
  EXPECT_TRUE(run_format(words).has_value()) << "nobody is there yet";
}

TEST_F(KafkaFormat, KeepsWhatIsFormattedAndRefusesAnothersData) {
  ASSERT_TRUE(run_format(quorum(1001)).has_value());
  const auto before = meta();
  EXPECT_THAT(run_format(quorum(1001)).value(), HasSubstr(R"("formatted": 0, "kept": 1)"));
  EXPECT_EQ(meta(), before);
  EXPECT_THAT(run_format(quorum(1001, "d")).error().text(),
              HasSubstr("holds the data of node 1001 of cluster 'c', not of node 1001 of 'd'"));
  EXPECT_EQ(run_format(quorum(1002)).error().code, ErrorCode::failed);
}

TEST_F(KafkaFormat, DataThatShouldBeThereAreNotMadeAnew) {
  const Words words{"--config", server(4, "broker"), "--cluster-id", "c",
                    "--voters", "1001@n1:1",         "--existing"};
  EXPECT_EQ(run_format(words).error().code, ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(data_ / "meta.properties"));
  ASSERT_TRUE(run_format({"--config", server(4, "broker"), "--cluster-id", "c"}).has_value());
  EXPECT_THAT(run_format(words).value(), HasSubstr(R"("formatted": 0, "kept": 1)"));
}

TEST_F(KafkaFormat, DataThatAreThereAreMovedToTheirNewAddresses) {
  ASSERT_TRUE(run_format(quorum(1001)).has_value());
  auto words = quorum(1001);
  words.back() = "1001@10.9.9.1:91,1002@10.9.9.2:92", words.push_back("--existing");
  EXPECT_THAT(run_format(words).value(), HasSubstr(R"("kept": 1, "moved": 1)"));
  EXPECT_THAT(read_file(snapshot_).value(), HasSubstr("10.9.9.2"));
  EXPECT_THAT(run_format(words).value(), HasSubstr(R"("kept": 1, "moved": 0)"));
}

TEST_F(KafkaFormat, RefusesAControllerThatDoesNotVote) {
  EXPECT_THAT(run_format(quorum(1003)).error().text(), HasSubstr("node 1003 is not among the voters"));
  EXPECT_FALSE(fs::exists(data_ / "meta.properties"));
}

TEST(KafkaProperties, ReadsTheFormsOfAFile) {
  const auto parsed = parse_properties("# c\n! c\n\n a.b = x y \r\nc=d=e\np=C:\\\\x\na.b=z").value();
  EXPECT_EQ(parsed, (Properties{{"a.b", "x y "}, {"c", "d=e"}, {"p", "C:\\x"}, {"a.b", "z"}}));
  EXPECT_EQ(value_of(parsed, "a.b"), "z");
  EXPECT_EQ(value_of(parsed, "absent"), "");
  EXPECT_THAT(parse_properties("a=1\nnonsense\n").error().text(), HasSubstr("line 2"));
  EXPECT_FALSE(parse_properties("=1").has_value());
}

TEST(KafkaJson, EscapesWhatJsonWants) {
  EXPECT_EQ(json_string("a\"\\\n\x01"
                        "é"),
            R"("a\"\\\u000a\u0001é")");
}

}  // namespace
}  // namespace pilot::adaptors::kafka
