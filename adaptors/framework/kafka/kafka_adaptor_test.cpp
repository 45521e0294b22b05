#include "adaptors/framework/kafka/kafka_adaptor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/framework/kafka/test_input.hpp"
#include "pilot/base/file.hpp"

namespace pilot::adaptors::kafka {
namespace {

using ::testing::HasSubstr;

TEST(KafkaAdaptor, InstallsTheVersionThatItsRecipePins) {
  const auto recipe = KafkaAdaptor().install_recipe();
  const auto pom = read_file(PILOT_SOURCE_DIR "/adaptors/framework/kafka/share/pom.xml").value();
  EXPECT_THAT(pom, HasSubstr("<kafka.version>" + recipe.version + "</kafka.version>"));
  EXPECT_TRUE(read_file(PILOT_SOURCE_DIR "/adaptors/framework/kafka/share" / recipe.script).has_value());
}

TEST(KafkaAdaptor, ChecksBeforeAnythingIsStarted) {
  model::PilotSpec spec;
  spec.nodes = 2;
  const auto refusal = [&](const std::string& option, const std::string& value) {
    const auto checked = KafkaAdaptor().check({"kafka", {{option, value}}, {}}, spec);
    return checked.has_value() ? "accepted" : checked.error().text();
  };
  EXPECT_EQ(refusal("controllers", "1"), "accepted");
  EXPECT_THAT(refusal("controllers", "3"), HasSubstr("kafka.controllers is 3, but the pilot has 2 nodes"));
  EXPECT_THAT(refusal("brokers", "3"), HasSubstr("kafka.brokers is 3, but the pilot has 2 nodes"));
  EXPECT_THAT(refusal("brokres", "3"), HasSubstr("did you mean 'brokers'?"));
}

TEST(KafkaAdaptor, TopicsAreItsToolsBusiness) {
  model::ClusterPlan cluster;
  cluster.exports = {{"PILOT_KAFKA_CONFIG", "/p/a b/client"}};
  plugin::TopicRequest request;
  request.verb = plugin::TopicRequest::Verb::create;
  request.topic = "-x";
  request.partitions = 8;
  request.replicas = 2;
  request.settings = {{"retention.ms", "1000"}, {"x", "a,b"}};
  request.if_absent = true;
  const auto command = KafkaAdaptor().topic_command(request, cluster, "/opt/bin");
  ASSERT_TRUE(command.has_value());
  EXPECT_EQ(command->argv,
            (std::vector<std::string>{"/opt/bin/pilot-kafka", "topic", "create", "-x",
                                      "--config=/p/a b/client", "--timeout=10000ms", "--partitions=8",
                                      "--replicas=2", "--set=retention.ms=1000,x=a,b", "--if-absent"}));
}

TEST(KafkaAdaptor, DocumentsTheOptionsItReads) {
  for (const auto& doc : KafkaAdaptor().options()) {
    const auto checked = KafkaAdaptor().check({"kafka", {{doc.name, "no value of it"}}, {}}, {});
    ASSERT_FALSE(checked.has_value()) << doc.name;
    EXPECT_THAT(checked.error().text(), ::testing::Not(HasSubstr("no option"))) << doc.name;
  }
}

}  // namespace
}  // namespace pilot::adaptors::kafka
