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

std::vector<model::NodeInfo> machines(int count) {
  auto all = nodes(count);
  for (auto& node : all) node.host = node.id;
  return all;
}

// "1 2+ 3+": the controllers' nodes, with a mark on those that join.
std::string controllers(const Result<Placement>& placement) {
  std::string text;
  for (const auto& one : placement.value().controllers)
    text += (text.empty() ? "" : " ") + std::to_string(one.id - 1000) + (one.joins ? "+" : "");
  return text;
}

TEST(KafkaPlacement, ThreeMachinesHaveThreeControllersOfWhichTwoJoin) {
  EXPECT_EQ(controllers(place({}, nodes(4))), "1") << "one machine";
  EXPECT_EQ(controllers(place({}, machines(2))), "1");
  EXPECT_EQ(controllers(place({}, machines(3))), "1 2+ 3+");
  auto all = machines(4);
  all[1].host = "node-1";
  EXPECT_EQ(controllers(place({}, all)), "1 3+ 4+") << "each on a machine of its own";
  all[2].memory = Bytes{700ULL << 20};
  EXPECT_EQ(controllers(place({}, all)), "1") << "node-3 has room for a broker only";
  all = machines(3);
  all[2].free_ports = {20000};
  EXPECT_EQ(controllers(place({}, all)), "1") << "node-3 has a port for a broker only";
  EXPECT_EQ(controllers(place({}, machines(3), {}, false)), "1") << "a Kafka that can't join";
  Options options;
  options.controllers = 3;
  EXPECT_EQ(controllers(place(options, machines(3))), "1 2 3");
  options.controllers.reset();
  options.data = {"/d"};
  EXPECT_EQ(controllers(place(options, machines(3))), "1") << "whose data are opened again";
}

TEST(KafkaPlacement, AControllerThatLeavesIsReplaced) {
  Present present{{{"kafka/controller-1", 1}, {"kafka/controller-2", 1}, {"kafka/controller-3", 1}}, {}, {}};
  EXPECT_EQ(controllers(place({}, machines(5), present)), "1+ 2+ 3+");
  present.draining = {"node-2"};
  EXPECT_EQ(controllers(place({}, machines(5), present)), "1+ 2+ 3+ 4+");
  EXPECT_EQ(controllers(place({}, machines(3), present)), "1+ 2+ 3+") << "there is no other";
  auto all = machines(4);
  all[3].allocation = "a1";
  EXPECT_EQ(controllers(place({}, all, present)), "1+ 2+ 3+ 4+") << "on an extension";
  all.push_back(all[3]);
  all[4].allocation = "a0", all[4].id = all[4].host = "node-5";
  EXPECT_EQ(controllers(place({}, all, present)), "1+ 2+ 3+ 5+") << "the base lives longer";
  all.pop_back();
  all[3].allocation = "a0";
  all[3].memory = Bytes{700ULL << 20};
  EXPECT_EQ(controllers(place({}, all, present)), "1+ 2+ 3+") << "no room";
  all = machines(4);
  all.erase(all.begin() + 1);  // it has gone
  present.draining.clear();
  EXPECT_EQ(controllers(place({}, all, present)), "1+ 3+ 4+");
  present.ports = {{"kafka/controller-1", 1}, {"kafka/broker-1", 2}};
  EXPECT_EQ(controllers(place({}, machines(4), present)), "1+") << "a cluster that began with one";
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

TEST(KafkaPlacement, ABaseNodeThatWasLostIsDoneWithout) {
  Options options;
  options.brokers = 3;
  const auto two = std::vector{node(1), node(3)};
  EXPECT_THAT(place(options, two).error().text(), HasSubstr("kafka.brokers is 3, but there are 2 nodes"));
  const auto running = place(options, two, {{{"kafka/broker-1", 5}}, {}, {}}).value();
  ASSERT_EQ(running.brokers.size(), 2u);
  EXPECT_EQ(running.brokers[1].id, 3);
}

TEST(KafkaPlacement, ARackIsTheSwitchOrTheNode) {
  auto all = nodes(2);
  all[1].rack = "leaf2";
  const auto placement = place({}, all).value();
  EXPECT_EQ(placement.brokers[0].rack, "node-1");
  EXPECT_EQ(placement.brokers[1].rack, "leaf2");
}

TEST(KafkaPlacement, DataOfAStoppedPilotAreOpenedByTheBase) {
  const Reopened old{"cluster", {1001}, {1, 2, 5}, 7};
  EXPECT_EQ(parse_reopened(to_kept(old)).value()->brokers, old.brokers);
  EXPECT_EQ(parse_reopened(to_kept(old)).value()->highest, 7);
  EXPECT_FALSE(parse_reopened({}).value().has_value());
  EXPECT_EQ(parse_reopened({{"cluster", "x"}, {"brokers", "1,x"}}).error().code, ErrorCode::usage);
  Options options;
  EXPECT_THAT(place(options, nodes(4), {{}, {}, old}).error().text(),
              HasSubstr("'kafka.data', which is not set"));
  options.data = {"/d"};
  EXPECT_THAT(place(options, nodes(2), {{}, {}, old}).error().text(),
              HasSubstr("lie on 3 brokers, and the base has 2"));
  const auto placement = place(options, nodes(4), {{}, {}, old}).value();
  std::vector<std::pair<int, bool>> brokers;
  for (const auto& broker : placement.brokers) brokers.emplace_back(broker.id, broker.reopened);
  EXPECT_EQ(brokers, (std::vector<std::pair<int, bool>>{{1, true}, {2, true}, {5, true}, {11, false}}));
  EXPECT_TRUE(placement.controllers[0].reopened);
  options.controllers = 3;
  EXPECT_THAT(place(options, nodes(4), {{}, {}, old}).error().text(), HasSubstr("have 1 controllers"));
}

}  // namespace
}  // namespace pilot::adaptors::kafka
