#include "pilot/core/topics.hpp"

#include <gtest/gtest.h>

namespace pilot::core {
namespace {

TEST(Topics, AnAnswerIsRead) {
  const auto answer = parse_topic_answer(
      R"({"schema": "x/1", "grown_from": 1, "caution": "keys", "topic": {"name": "t", "internal": false, )"
      R"("bytes_by_broker": {"1": 5, "2": 7}, "partitions": [)"
      R"({"id": 0, "leader": 1, "replicas": [1, 2], "in_sync": [1, 2]}, )"
      R"({"id": 1, "leader": -1, "replicas": [2, 1], "in_sync": [2]}]}})");
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_EQ(answer.value().grown_from, 1);
  EXPECT_EQ(answer.value().caution, "keys");
  ASSERT_EQ(answer.value().topics.size(), 1u);
  const Topic& topic = answer.value().topics[0];
  EXPECT_EQ(topic.partitions.size(), 2u);
  EXPECT_EQ(topic.replicas(), 2);
  EXPECT_EQ(topic.under_replicated(), 1);
  EXPECT_EQ(topic.leaderless(), 1);
  EXPECT_EQ(topic.bytes(), 12);
}

TEST(Topics, AnswersOfMany) {
  const auto answer = parse_topic_answer(
      R"({"topics": [{"name": "a", "internal": true, "bytes_by_broker": null, "partitions": []}]})");
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_TRUE(answer.value().topics[0].internal);
  EXPECT_EQ(answer.value().topics[0].bytes(), -1);
}

TEST(Topics, NonsenseIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"topic": {"name": 3}})", R"({"topics": [1]})"})
    EXPECT_EQ(parse_topic_answer(text).error().code, ErrorCode::internal) << text;
}

}  // namespace
}  // namespace pilot::core
