#include "adaptors/framework/kafka/protocol/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pilot::adaptors::kafka::protocol {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(KafkaAccess, ReadsThePilotsClientFile) {
  const auto access = access_from({{"bootstrap.servers", "10.0.0.1:9092, [::1]:9093"},
                                   {"security.protocol", "SASL_SSL"},
                                   {"sasl.mechanisms", "PLAIN"},
                                   {"sasl.username", "pilot"},
                                   {"sasl.password", "s"},
                                   {"ssl.ca.location", "/ca.pem"},
                                   {"fetch.max.bytes", "1"}})
                          .value();
  ASSERT_EQ(access.bootstrap.size(), 2u);
  EXPECT_EQ(access.bootstrap[0].text(), "10.0.0.1:9092");
  EXPECT_EQ(access.bootstrap[1].host, "::1");
  EXPECT_EQ(access.bootstrap[1].text(), "[::1]:9093");
  EXPECT_TRUE(access.tls && access.login && access.check_host);
  EXPECT_EQ(access.ca, "/ca.pem");
}

TEST(KafkaAccess, RefusesWhatItCanNotDoWithoutTellingSecrets) {
  const auto scram = access_from({{"bootstrap.servers", "h:1"},
                                  {"security.protocol", "sasl_plaintext"},
                                  {"sasl.mechanisms", "SCRAM-SHA-512"},
                                  {"sasl.username", "pilot"},
                                  {"sasl.password", "hidden"}});
  EXPECT_EQ(scram.error().code, ErrorCode::usage);
  EXPECT_THAT(scram.error().text(), HasSubstr("'sasl.mechanisms' is 'SCRAM-SHA-512'; it can be PLAIN only"));
  EXPECT_THAT(scram.error().text(), Not(HasSubstr("hidden")));
  EXPECT_THAT(access_from({{"bootstrap.servers", "h:1"}, {"security.protocol", "tls"}}).error().text(),
              HasSubstr("'security.protocol' is 'tls'"));
  EXPECT_THAT(access_from({}).error().text(), HasSubstr("'bootstrap.servers' is missing"));
}

TEST(KafkaAccess, EndpointsHaveHostAndPort) {
  EXPECT_EQ(parse_endpoint("SASL_SSL://h:9092").value().text(), "h:9092");
  for (const auto* bad : {"h", ":1", "h:0", "h:65536", "h:x", "[]:1", "h:"})
    EXPECT_FALSE(parse_endpoint(bad).has_value()) << bad;
}

}  // namespace
}  // namespace pilot::adaptors::kafka::protocol
