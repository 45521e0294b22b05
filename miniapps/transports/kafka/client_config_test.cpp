#include "miniapps/transports/kafka/client_config.hpp"

#include <gmock/gmock.h>

#include "miniapps/transports/kafka/admin.hpp"
#include "miniapps/transports/kafka/producer.hpp"

namespace miniapps::transports::kafka {
namespace {

using testing::HasSubstr;

TEST(ClientConfig, ReadsKeyValueLines) {
  const auto config = parse_client_config(
      "# a comment\n\n bootstrap.servers = 127.0.0.1:9092,127.0.0.2:9092 \r\nsasl.password=a=b#c\n", "file");
  ASSERT_TRUE(config);
  EXPECT_EQ(config.value().bootstrap(), "127.0.0.1:9092,127.0.0.2:9092");
  EXPECT_EQ(config.value().properties.at("sasl.password"), "a=b#c");
  EXPECT_EQ(config.value().properties.size(), 2U);
}

TEST(ClientConfig, SaysWhichLineIsWrong) {
  const auto config = parse_client_config("a=b\n\nno equals sign\n", "/x/librdkafka.conf");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "/x/librdkafka.conf:3: expected 'key=value', found 'no equals sign'");
  EXPECT_EQ(config.error().code, pilot::ErrorCode::usage);
  EXPECT_FALSE(parse_client_config("=value\n", "x"));
}

TEST(ClientConfig, MissingFileIsNotFound) {
  const auto config = read_client_config("/nonexistent/librdkafka.conf");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, pilot::ErrorCode::not_found);
}

TEST(ClientConfig, SetsSinglePropertiesOnTop) {
  ClientConfig config = plain_client_config("host:1");
  ASSERT_TRUE(set_property(config, "linger.ms=5"));
  EXPECT_EQ(config.properties.at("linger.ms"), "5");
  EXPECT_THAT(set_property(config, "linger.ms").error().message, HasSubstr("'linger.ms' is not 'key=value'"));
}

std::string why_no_producer(const std::string& text) {
  const auto config = parse_client_config(text, "client.conf").value();
  const auto producer = make_producer(config, {.topic = "t"});
  if (producer) return "made";
  EXPECT_EQ(producer.error().code, pilot::ErrorCode::usage);
  return producer.error().text();
}

TEST(ClientConfig, RefusesWhatLibrdkafkaRefuses) {
  EXPECT_THAT(why_no_producer(""), HasSubstr("client.conf says no bootstrap.servers; give --pilot"));
  EXPECT_THAT(why_no_producer("bootstrap.servers=a:1\nlingr.ms=1"),
              HasSubstr("client.conf: 'lingr.ms': No such configuration property"));
  EXPECT_THAT(why_no_producer("bootstrap.servers=a:1\nlinger.ms=many"), HasSubstr("linger.ms"));
  EXPECT_THAT(why_no_producer("bootstrap.servers=a:1\nacks=1"), HasSubstr("has to be 'all', not '1'"));
  EXPECT_THAT(why_no_producer("bootstrap.servers=a:1\nsasl.jaas.config=x"),
              HasSubstr("a Java client's file"));
}

}  // namespace
}  // namespace miniapps::transports::kafka
