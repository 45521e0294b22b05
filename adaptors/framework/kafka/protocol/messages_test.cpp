// Byte for byte what Kafka's own client library writes; tests/fixtures/kafka/wire says how it was recorded.
#include "adaptors/framework/kafka/protocol/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "adaptors/framework/kafka/protocol/error_codes.hpp"
#include "pilot/base/file.hpp"

namespace pilot::adaptors::kafka::protocol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string recorded(const std::string& name) {
  static const auto all = [] {
    std::map<std::string, std::string> found;
    std::istringstream lines(
        read_file(PILOT_SOURCE_DIR "/tests/fixtures/kafka/wire/kafka-clients-4.3.1.txt").value());
    std::string key;
    std::string hex;
    while (lines >> key >> hex) {
      for (std::size_t i = 0; i < hex.size(); i += 2)
        found[key] += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    return found;
  }();
  return all.at(name);
}

TEST(KafkaMessages, RequestsAreWhatKafkasClientWrites) {
  EXPECT_EQ(sasl_handshake_request("PLAIN"), recorded("handshake_q"));
  EXPECT_EQ(sasl_authenticate_request(std::string_view("\0u\0p", 4)), recorded("authenticate_q"));
  EXPECT_EQ(metadata_request(), recorded("metadata_q"));
  EXPECT_EQ(describe_log_dirs_request(), recorded("log_dirs_q"));
  EXPECT_EQ(alter_log_dirs_request({{"b", 9, "/y"}, {"a", 0, "/x"}, {"a", 1, "/x"}}), recorded("places_q"));
  EXPECT_EQ(alter_reassignments_request(
                {{"b", 9, std::vector{1}}, {"a", 0, std::vector{2, 3}}, {"a", 1, std::nullopt}}, 5000),
            recorded("alter_q"));
  EXPECT_EQ(list_reassignments_request(5000), recorded("list_q"));
  EXPECT_EQ(alter_configs_request({{Resource::broker, "1", {{"k", "v"}, {"l", std::nullopt}}}}),
            recorded("configs_q"));
  EXPECT_EQ(describe_configs_request({{Resource::topic, "t", {"x", "y"}}}), recorded("describe_q"));
  EXPECT_EQ(elect_preferred_request({{"a", 0}, {"a", 4}}, 5000), recorded("elect_q"));
  EXPECT_EQ(unregister_broker_request(4), recorded("unregister_q"));
}

TEST(KafkaMessages, TheQuorumsVotersAreToldAndRemoved) {
  EXPECT_EQ(describe_quorum_request(), recorded("quorum_q"));
  const auto directory = [](char last) { return std::string(15, '\0') + last; };
  const Voter first{1001, directory(5), true}, third{1003, directory(7), true},
      silent{1004, directory(9), false};
  EXPECT_THAT(parse_describe_quorum(recorded("quorum_a")).value(), ElementsAre(first, third, silent));
  EXPECT_THAT(parse_describe_quorum(recorded("quorum_refused_a")).error().text(),
              HasSubstr("no leader (NOT_LEADER"));
  EXPECT_EQ(remove_voter_request(third), recorded("remove_voter_q"));
  EXPECT_TRUE(parse_remove_voter(recorded("remove_voter_a_gone")).has_value());
  EXPECT_THAT(parse_remove_voter(recorded("remove_voter_a")).error().text(), HasSubstr("no majority"));
}

TEST(KafkaMessages, FramesCarryLengthAndHeader) {
  EXPECT_EQ(framed(alter_reassignments_api, 7, "pilot-kafka", "body"),
            std::string("\0\0\0\x1a", 4) + recorded("header2") + "body");
  EXPECT_EQ(framed(sasl_handshake_api, 7, "pilot-kafka", ""),
            std::string("\0\0\0\x15", 4) + recorded("header1"));
}

TEST(KafkaMessages, AnAnswerToAnotherRequestIsRefused) {
  EXPECT_EQ(unframed(metadata_api, 7, std::string_view("\0\0\0\x07\0body", 9)).value(), "body");
  EXPECT_EQ(unframed(sasl_handshake_api, 7, std::string_view("\0\0\0\x07z", 5)).value(), "z");
  EXPECT_FALSE(unframed(metadata_api, 8, std::string_view("\0\0\0\x07\0body", 9)).has_value());
  EXPECT_FALSE(unframed(metadata_api, 7, std::string_view("\0\0\0\x07", 4)).has_value());
}

TEST(KafkaMessages, ReadsWhatBrokersAnswerToTheLogIn) {
  const auto versions = parse_api_versions(recorded("versions_a")).value();
  ASSERT_EQ(versions.size(), 1u);
  EXPECT_EQ(versions[0].key, 3);
  EXPECT_EQ(versions[0].most, 13);
  EXPECT_THAT(parse_sasl_handshake(recorded("handshake_a")).error().text(),
              HasSubstr("knows the SASL mechanism SCRAM-SHA-512, OAUTHBEARER, not PLAIN"));
  EXPECT_EQ(parse_sasl_authenticate(recorded("authenticate_a")).error().message,
            "Authentication failed: Invalid username or password (SASL_AUTHENTICATION_FAILED)");
}

TEST(KafkaMessages, ReadsMetadata) {
  const auto state = parse_metadata(recorded("metadata_a")).value();
  ASSERT_EQ(state.brokers.size(), 2u);
  EXPECT_EQ(state.brokers[0].rack, "r1");
  EXPECT_EQ(state.brokers[1].host, "::1");
  EXPECT_EQ(state.brokers[1].port, 9093);
  EXPECT_EQ(state.brokers[1].rack, "");
  ASSERT_EQ(state.topics.size(), 1u);
  EXPECT_EQ(state.topics[0].name, "scans");
  const auto& partition = state.topics[0].partitions.at(0);
  EXPECT_EQ(partition.index, 3);
  EXPECT_EQ(partition.leader, 1);
  EXPECT_THAT(partition.replicas, ElementsAre(1, 2));
  EXPECT_THAT(partition.in_sync, ElementsAre(1));
}

TEST(KafkaMessages, ReadsLogDirectories) {
  const auto folders = parse_describe_log_dirs(recorded("log_dirs_a")).value();
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_EQ(folders[0].path, "/d");
  EXPECT_EQ(folders[0].total_bytes, 1000);
  EXPECT_EQ(folders[0].usable_bytes, 400);
  ASSERT_EQ(folders[0].replicas.size(), 1u);
  EXPECT_EQ(folders[0].replicas[0].topic, "scans");
  EXPECT_EQ(folders[0].replicas[0].partition, 3);
  EXPECT_EQ(folders[0].replicas[0].bytes, 77);
  EXPECT_FALSE(folders[0].replicas[0].future);
}

TEST(KafkaMessages, ReadsReplicasOnTheirWayToAnotherLogDirectory) {
  const auto folders = parse_describe_log_dirs(recorded("log_dirs_a_future")).value();
  ASSERT_EQ(folders.size(), 2u);
  EXPECT_EQ(folders[0].error, 56);  // off line
  EXPECT_EQ(folders[0].usable_bytes, -1);
  ASSERT_EQ(folders[1].replicas.size(), 1u);
  EXPECT_TRUE(folders[1].replicas[0].future);
  const auto results = parse_alter_log_dirs(recorded("places_a")).value();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].error, no_error);
  EXPECT_EQ(results[1].topic, "b");
  EXPECT_EQ(results[1].partition, 9);
  EXPECT_EQ(results[1].error, replica_not_available);
}

TEST(KafkaMessages, ReadsReassignments) {
  const auto results = parse_alter_reassignments(recorded("alter_a")).value();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].error, no_error);
  EXPECT_EQ(results[1].partition, 1);
  EXPECT_EQ(sentence(results[1].error, results[1].said), "no broker 9 (INVALID_REPLICA_ASSIGNMENT)");
  EXPECT_EQ(parse_alter_reassignments(recorded("alter_a_error")).error().message,
            "this user may not change the cluster (CLUSTER_AUTHORIZATION_FAILED)");
  const auto ongoing = parse_list_reassignments(recorded("list_a")).value();
  ASSERT_EQ(ongoing.size(), 1u);
  EXPECT_EQ(ongoing[0].topic, "a");
  EXPECT_EQ(ongoing[0].partition, 4);
  EXPECT_THAT(ongoing[0].replicas, ElementsAre(3, 1));
  EXPECT_THAT(ongoing[0].adding, ElementsAre(3));
  EXPECT_THAT(ongoing[0].removing, ElementsAre(1));
}

TEST(KafkaMessages, ReadsSettings) {
  // The first one is of a topic that is gone.
  EXPECT_EQ(parse_alter_configs(recorded("configs_a")).error().message,
            "broker 1: bad value (INVALID_CONFIG)");
  const auto answers = parse_describe_configs(recorded("describe_a")).value();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].name, "t");
  ASSERT_EQ(answers[0].settings.size(), 2u);
  EXPECT_EQ(answers[0].settings[0].value, "1");
  EXPECT_TRUE(answers[0].settings[0].own);
  EXPECT_FALSE(answers[0].settings[1].own);
}

TEST(KafkaMessages, ReadsElectionsAndUnregistering) {
  const auto results = parse_elect_leaders(recorded("elect_a")).value();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].partition, 4);
  EXPECT_TRUE(passes(results[0].error));
  EXPECT_EQ(parse_unregister_broker(recorded("unregister_a")).error().message, "no (INVALID_REQUEST)");
  EXPECT_TRUE(parse_unregister_broker(recorded("unregister_a_gone")).has_value());
}

TEST(KafkaMessages, EveryCutOffAnswerIsRefused) {
  const auto whole = recorded("metadata_a");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_metadata(whole.substr(0, size)).has_value()) << size;
  EXPECT_THAT(parse_metadata(whole + "x").error().message,
              HasSubstr("the answer to Metadata version 9 is malformed"));
}

TEST(KafkaErrors, UnknownCodesKeepTheirNumber) {
  EXPECT_EQ(sentence(999), "error 999");
  EXPECT_EQ(sentence(999, "odd"), "odd (error 999)");
  EXPECT_FALSE(passes(999));
}

}  // namespace
}  // namespace pilot::adaptors::kafka::protocol
