#include "adaptors/framework/kafka/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/framework/kafka/test_input.hpp"

namespace pilot::adaptors::kafka {
namespace {

using ::testing::HasSubstr;
using testing::node;

std::vector<model::NodeInfo> nodes(int count) {
  std::vector<model::NodeInfo> all;
  for (int number = 1; number <= count; ++number) all.push_back(node(number));
  return all;
}

TEST(KafkaPlacement, ReplicationFollowsTheNumberOfBrokers) {
  const std::pair<int, int> expected[] = {{1, 1}, {2, 1}, {3, 2}, {3, 2}, {3, 2}};
  for (int count = 1; count <= 5; ++count) {
    const auto placement = place({}, nodes(count)).value();
    EXPECT_EQ(placement.brokers.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(placement.replication, expected[count - 1].first) << count << " brokers";
    EXPECT_EQ(placement.in_sync, expected[count - 1].second) << count << " brokers";
  }
}

TEST(KafkaPlacement, ControllersStayOnTheBaseWhereverItStandsInTheList) {
  auto all = nodes(3);
  all[0].allocation = "a1";
  all[0].id = "node-9";
  const auto placement = place({}, all).value();
  ASSERT_EQ(placement.controllers.size(), 1u);
  EXPECT_EQ(placement.controllers[0].node, "node-2");
  EXPECT_EQ(placement.controllers[0].id, 1002);
  EXPECT_EQ(placement.brokers[0].name, "broker-9");
  EXPECT_EQ(placement.brokers[0].id, 9);
}

TEST(KafkaPlacement, ServersOfANodeHavePortsOfTheirOwn) {
  const auto placement = place({}, nodes(2)).value();
  EXPECT_EQ(placement.controllers[0].port, 20000);
  EXPECT_EQ(placement.brokers[0].port, 20001);
  EXPECT_EQ(placement.brokers[1].port, 20000);
}

TEST(KafkaPlacement, RefusesAnExhaustedPortRange) {
  const auto refused = place({}, {node(1, Bytes{4ULL << 30}, {20000})});
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_EQ(refused.error().text(),
            "node-1 has 1 free ports in the pilot's range, Kafka needs 2; widen network.first_port to "
            "network.last_port");
}

TEST(KafkaPlacement, HeapIsAQuarterOfTheNodeWithinLimits) {
  const std::pair<std::uint64_t, std::uint64_t> mebibytes[] = {{1024, 256}, {4096, 1024}, {262144, 4096}};
  for (const auto& [memory, heap] : mebibytes) {
    EXPECT_EQ(place({}, {node(1, Bytes{memory << 20})}).value().brokers[0].heap, Bytes{heap << 20});
  }
}

TEST(KafkaPlacement, RefusesANodeThatIsTooSmall) {
  const auto refused = place({}, {node(1, Bytes{512ULL << 20})});
  EXPECT_THAT(refused.error().text(),
              HasSubstr("node-1 has 512 MiB of memory for Kafka, a broker and a controller needs 896 MiB"));
  Options options;
  options.heap = Bytes{8ULL << 30};
  EXPECT_THAT(place(options, {node(1)}).error().hint, HasSubstr("lower kafka.heap"));
}

TEST(KafkaPlacement, RefusesMoreBrokersThanNodes) {
  Options options;
  options.brokers = 3;
  EXPECT_THAT(place(options, nodes(2)).error().text(),
              HasSubstr("kafka.brokers is 3, but there are 2 nodes"));
}

TEST(KafkaPlacement, AddressesOfIpv6StandInBrackets) {
  auto one = node(1);
  one.address = "fd00::1";
  EXPECT_EQ(place({}, {one}).value().brokers[0].endpoint(), "[fd00::1]:20001");
}

}  // namespace
}  // namespace pilot::adaptors::kafka
