#include "adaptors/framework/kafka/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pilot::adaptors::kafka {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::map<std::string, std::string>& options,
                    const std::map<std::string, std::string>& config = {}) {
  const auto parsed = parse_options({"kafka", options, config});
  if (parsed.has_value()) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::usage);
  return parsed.error().text();
}

TEST(KafkaOptions, Defaults) {
  const auto options = parse_options({"kafka", {}, {}}).value();
  EXPECT_FALSE(options.controllers);
  EXPECT_EQ(options.brokers, 0);
  EXPECT_EQ(options.heap, std::nullopt);
  EXPECT_GE(options.max_message.count, 32u << 20);
}

TEST(KafkaOptions, ReadsAll) {
  const auto options =
      parse_options({"kafka",
                     {{"controllers", "3"}, {"brokers", "5"}, {"heap", "2G"}, {"max_message", "64MiB"}},
                     {{"log.retention.hours", "1"}}})
          .value();
  EXPECT_EQ(options.controllers, 3);
  EXPECT_EQ(options.brokers, 5);
  EXPECT_EQ(options.heap, Bytes{2ULL << 30});
  EXPECT_EQ(options.max_message, Bytes{64ULL << 20});
  EXPECT_EQ(options.config.at("log.retention.hours"), "1");
}

TEST(KafkaOptions, FoldersAndPatience) {
  const auto options = parse_options({"kafka", {{"data", "/a,/b c"}, {"move_patience", "30s"}}, {}}).value();
  EXPECT_EQ(options.data, (std::vector<std::string>{"/a", "/b c"}));
  EXPECT_EQ(options.move_patience, std::chrono::seconds(30));
  for (const char* wrong : {"", "a", "/a,", "/a,b", "/", "/$HOME", "/a\nb"})
    EXPECT_THAT(refusal({{"data", wrong}}), HasSubstr("is no path from '/' on")) << wrong;
  EXPECT_THAT(refusal({{"move_patience", "0s"}}), HasSubstr("below 1s"));
  EXPECT_THAT(refusal({{"move_patience", "soon"}}), HasSubstr("kafka.move_patience"));
}

TEST(KafkaOptions, RefusesWithTheReason) {
  EXPECT_THAT(refusal({{"controllers", "2"}}), HasSubstr("kafka.controllers is 2, it can be 1 or 3"));
  EXPECT_THAT(refusal({{"brokers", "-1"}}), HasSubstr("kafka.brokers is '-1', which is not a number from 1"));
  EXPECT_THAT(refusal({{"brokers", "2x"}}), HasSubstr("'2x'"));
  EXPECT_THAT(refusal({{"heap", "1M"}}), HasSubstr("kafka.heap is 1M, which is not from 128 MiB"));
  EXPECT_THAT(refusal({{"heap", "much"}}), HasSubstr("kafka.heap"));
  EXPECT_THAT(refusal({{"controlers", "1"}}),
              HasSubstr("kafka has no option 'controlers'; did you mean 'controllers'?"));
}

TEST(KafkaOptions, RefusesReservedSettingsAndLetsUnknownOnesPass) {
  for (const auto* key :
       {"listeners", "advertised.listeners", "node.id", "process.roles", "log.dirs",
        "controller.quorum.voters", "listener.name.client.sasl.enabled.mechanisms", "sasl.enabled.mechanisms",
        "ssl.keystore.location", "security.inter.broker.protocol", "authorizer.class.name", "super.users",
        "message.max.bytes", "zookeeper.connect"}) {
    EXPECT_THAT(refusal({}, {{key, "x"}}),
                HasSubstr(std::string("kafka.config: '") + key + "' can't be set: "));
  }
  EXPECT_EQ(refusal({}, {{"controller.quorum.election.timeout.ms", "500"}, {"a.setting.of.tomorrow", "x=y"}}),
            "accepted");
}

TEST(KafkaOptions, RefusesAValueThatWouldSmuggleInALine) {
  EXPECT_THAT(refusal({}, {{"log.retention.hours", "1\nsuper.users=User:ANONYMOUS"}}),
              HasSubstr("line break"));
  EXPECT_THAT(refusal({}, {{"a\nsuper.users", "x"}}), HasSubstr("is no name of a setting"));
  EXPECT_THAT(refusal({}, {{"super.users=User:x#", "x"}}), HasSubstr("is no name of a setting"));
  EXPECT_THAT(refusal({}, {{"super.\\u0075sers", "x"}}), HasSubstr("is no name of a setting"));
}

}  // namespace
}  // namespace pilot::adaptors::kafka
