// Plans as text against tests/fixtures/kafka/plans.  PILOT_UPDATE_GOLDEN=1 writes them anew.
#include "adaptors/framework/kafka/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "adaptors/framework/kafka/test_input.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/units.hpp"

namespace pilot::adaptors::kafka {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const model::Readiness& ready) {
  std::string probe = "runs";
  if (const auto* tcp = std::get_if<model::TcpProbe>(&ready.probe))
    probe = fmt::format("tcp {}:{}", tcp->address, tcp->port);
  if (const auto* command = std::get_if<model::CommandProbe>(&ready.probe)) {
    probe = fmt::format("{}\n    within {}", fmt::join(command->command.argv, "\n    "),
                        format_duration(command->timeout));
  }
  return fmt::format("  ready: {}, each {}, deadline {}\n", probe, format_duration(ready.interval),
                     format_duration(ready.deadline));
}

std::string text_of(const std::vector<model::FileSpec>& files) {
  std::string out;
  for (const auto& file : files) {
    out += fmt::format("  file {:o} {}\n", file.mode, file.path);
    if (file.path.ends_with("log4j2.properties")) continue;  // a copy of share/log4j2.properties
    for (std::size_t begin = 0; begin < file.content.size();) {
      const auto end = std::min(file.content.find('\n', begin), file.content.size());
      out += "    " + file.content.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
  }
  return out;
}

std::string text_of(const model::ServiceSpec& service) {
  auto out = fmt::format("service {} ({}) on {}, stage {}{}\n", service.id, service.role, service.node,
                         service.stage, service.early ? ", early" : "");
  out += fmt::format("  run in {}:\n    {}\n", service.command.directory,
                     fmt::join(service.command.argv, "\n    "));
  out += fmt::format("  directories: {}\n", fmt::join(service.directories, " "));
  for (const auto& step : service.prepare) {
    out += fmt::format("  prepare unless {}:\n    {}\n", step.unless_exists,
                       fmt::join(step.command.argv, "\n    "));
  }
  for (const auto& [name, port] : service.ports) out += fmt::format("  port {} {}\n", name, port);
  out += fmt::format("  log {}\n", service.log) + text_of(service.ready);
  out += fmt::format("  stop: signal {}, grace {}; restarts {} within {}\n", service.stop.signal,
                     format_duration(service.stop.grace), service.restart.max_restarts,
                     format_duration(service.restart.window));
  return out + text_of(service.files);
}

std::string text_of(const model::ClusterPlan& plan) {
  auto out = fmt::format("{} {}\n", plan.framework, plan.version);
  for (const auto& service : plan.services) out += text_of(service);
  out += "cluster\n" + text_of(plan.ready) + text_of(plan.client_files);
  for (const auto& [name, value] : plan.exports) out += fmt::format("  export {}={}\n", name, value);
  return out;
}

void expect_golden(const std::string& name, const plugin::PlanInput& input) {
  const auto plan = plan_cluster(input);
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  EXPECT_EQ(plan.value(), plan_cluster(input).value()) << "the same input gave another plan";
  const auto text = text_of(plan.value());
  const auto path = std::string(PILOT_SOURCE_DIR "/tests/fixtures/kafka/plans/") + name + ".txt";
  if (std::getenv("PILOT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file(path, text, 0644).has_value());
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden.has_value()) << golden.error().text();
  EXPECT_EQ(text, golden.value());
}

TEST(KafkaPlan, OneNode) {
  expect_golden("one-node", testing::input(1));
}

TEST(KafkaPlan, ThreeControllersThreeBrokersEncrypted) {
  auto input = testing::input(3);
  input.spec.encrypt = true;
  input.framework.options = {{"controllers", "3"}};
  expect_golden("three-nodes-encrypted", input);
}

const model::ServiceSpec& named(const model::ClusterPlan& plan, const std::string& id) {
  return *std::ranges::find(plan.services, id, &model::ServiceSpec::id);
}

plugin::PlanInput of_machines(int count) {
  auto input = testing::input(count);
  for (auto& node : input.nodes) node.host = node.id;
  return input;
}

TEST(KafkaPlan, ControllersThatJoinComeAfterTheRest) {
  const auto plan = plan_cluster(of_machines(3)).value();
  const auto line = [](const model::ServiceSpec& spec) {
    return fmt::format("{}", fmt::join(spec.prepare.at(0).command.argv, " "));
  };
  const auto& first = named(plan, "kafka/controller-1");
  EXPECT_FALSE(first.late);
  EXPECT_THAT(line(first), HasSubstr("--voters 1001@127.77.0.1:20000"));
  EXPECT_THAT(line(first), Not(HasSubstr("1002@")));
  EXPECT_THAT(first.files.back().content, Not(HasSubstr("auto.join")));
  const auto& second = named(plan, "kafka/controller-2");
  EXPECT_TRUE(second.late);
  EXPECT_EQ(second.stage, first.stage) << "they stop together";
  EXPECT_THAT(line(second), Not(HasSubstr("--voters")));
  const auto content = [](const model::ServiceSpec& spec, std::string_view name) {
    const auto file = std::ranges::find_if(spec.files, [&](const auto& f) { return f.path.ends_with(name); });
    return file == spec.files.end() ? std::string() : file->content;
  };
  EXPECT_THAT(content(second, "/server.properties"), HasSubstr("controller.quorum.auto.join.enable=true"));
  EXPECT_THAT(
      content(named(plan, "kafka/broker-1"), "/server.properties"),
      HasSubstr("controller.quorum.bootstrap.servers=127.77.0.1:20000,127.77.0.2:20000,127.77.0.3:20000"))
      << "all are asked when the first is gone";
  EXPECT_EQ(std::get<model::CommandProbe>(second.ready.probe).command.argv.at(1), "voter");

  auto older = of_machines(3);
  older.software.version = "4.1.0";
  EXPECT_EQ(plan_cluster(older).value().services.size(), 4u) << "it does not join by itself";
}

TEST(KafkaPlan, AnotherKafkasToolFormatsControllersThatJoin) {
  auto input = of_machines(3);
  input.software.details.erase("template");
  const auto plan = plan_cluster(input).value();
  EXPECT_THAT(named(plan, "kafka/controller-1").prepare.at(0).command.argv,
              Contains("--initial-controllers"));
  EXPECT_EQ(named(plan, "kafka/controller-3").prepare.at(0).command.argv.back(), "--no-initial-controllers");
}

TEST(KafkaPlan, OwnKafkaAndSettings) {
  auto input = testing::input(2);
  input.framework.options = {{"heap", "1G"}, {"max_message", "80MiB"}};
  input.framework.config = {
      {"log.retention.hours", "1"}, {"min.insync.replicas", "2"}, {"some.new.setting", "C:\\x"}};
  input.software = {"kafka",      "4.1.0",         "/home/me/kafka",
                    "KAFKA_HOME", "/usr/bin/java", {{"classpath", "/home/me/kafka/libs/*"}}};
  expect_golden("own-kafka-and-settings", input);
}

TEST(KafkaPlan, HoldsNoSecretOutsidePlaceholdersAndKeepsFilesPrivate) {
  auto input = testing::input(3);
  const auto plan = plan_cluster(input).value();
  for (const auto& service : plan.services) {
    for (const auto& file : service.files) EXPECT_EQ(file.mode, 0600u) << file.path;
    for (const auto& word : service.command.argv)
      EXPECT_THAT(word, Not(HasSubstr("secret:"))) << "anyone can read arguments";
  }
  for (const auto& file : plan.client_files) EXPECT_EQ(file.mode, 0600u) << file.path;
}

TEST(KafkaPlan, EveryFileStandsInTheServicesFolder) {
  const auto plan = plan_cluster(testing::input(3)).value();
  for (const auto& service : plan.services) {
    const auto& folder = service.directories.front();
    for (const auto& file : service.files) EXPECT_TRUE(file.path.starts_with(folder + "/")) << file.path;
    for (const auto& directory : service.directories) EXPECT_TRUE(directory.starts_with(folder)) << directory;
    EXPECT_EQ(service.command.directory, folder);
  }
}

TEST(KafkaPlan, PilotsHaveClustersOfTheirOwn) {
  auto input = testing::input(1);
  const auto one = plan_cluster(input).value();
  input.pilot_id = "00112233445566778899aabbccddeef0";
  EXPECT_NE(one.services[0].prepare, plan_cluster(input).value().services[0].prepare);
}

TEST(KafkaPlan, RefusesWhatDoesNotFit) {
  auto input = testing::input(1);
  input.framework.options = {{"controllers", "3"}};
  EXPECT_THAT(plan_cluster(input).error().text(),
              HasSubstr("kafka.controllers is 3, but the pilot's base has 1 node"));
}

plugin::PlanInput grown_input() {
  auto wish = testing::input(2);
  wish.current = plan_cluster(wish).value();
  for (auto& node : wish.nodes) node.free_ports = {20009};
  wish.nodes.push_back(testing::node(4));
  wish.nodes.back().allocation = "a1";
  return wish;
}

TEST(KafkaResize, WhatRunsStaysAndNewNodesGetBrokers) {
  const auto wish = grown_input();
  const auto plan = plan_cluster(wish).value();
  for (const auto& before : wish.current->services) EXPECT_EQ(named(plan, before.id), before);
  EXPECT_EQ(named(plan, "kafka/broker-4").node, "node-4");
  EXPECT_EQ(plan.services.size(), wish.current->services.size() + 1);
  ASSERT_TRUE(plan.resize && plan.resize->move);
  EXPECT_THAT(fmt::format("{}", fmt::join(plan.resize->move->argv, " ")),
              ::testing::EndsWith("rebalance --config /pilots/demo/client/client.librdkafka.properties "
                                  "--json --timeout 2m00s --keep 1,2,4"));
  EXPECT_THAT(plan.exports.at("KAFKA_BOOTSTRAP_SERVERS"), HasSubstr("127.77.0.4:20000"));
}

std::string bound(const model::ClusterPlan& plan) {
  std::string ids;
  for (const auto& service : plan.services)
    if (service.bound) ids += service.id.substr(service.id.size() - 1);
  return ids;
}

std::string retires(const model::ClusterPlan& plan, const std::string& node) {
  return fmt::format("{}", fmt::join(plan.resize.value().retire.at(node).argv, " "));
}

TEST(KafkaResize, OfThreeControllersThatJoinOneMayLeave) {
  auto wish = of_machines(3);
  wish.current = plan_cluster(wish).value();
  EXPECT_EQ(bound(*wish.current), "");
  wish.draining = {"node-3"};
  auto plan = plan_cluster(wish).value();
  EXPECT_EQ(bound(plan), "12") << "two can't do without one";
  EXPECT_THAT(retires(plan, "node-3"), ::testing::EndsWith("--broker 3 --controller 1003"));
  EXPECT_THAT(fmt::format("{}", fmt::join(plan.resize->check->argv, " ")),
              ::testing::EndsWith("--check --leave 1003"));
  wish.draining = {"node-2", "node-3"};
  EXPECT_THAT(plan_cluster(wish).error().text(), HasSubstr("2 of Kafka's 3 controllers can't leave at once"));
  wish.as_far_as_possible = true;  // both are lost
  plan = plan_cluster(wish).value();
  EXPECT_EQ(bound(plan), "123");
  EXPECT_THAT(retires(plan, "node-3"), ::testing::EndsWith("--broker 3")) << "nobody could remove its vote";
}

TEST(KafkaResize, AControllerWithoutABrokerIsAskedForAsWell) {
  auto wish = of_machines(3);
  wish.framework.options = {{"brokers", "2"}};
  wish.current = plan_cluster(wish).value();
  wish.draining = {"node-3"};
  const auto plan = plan_cluster(wish).value();
  EXPECT_FALSE(plan.resize->move);
  EXPECT_THAT(fmt::format("{}", fmt::join(plan.resize->check.value().argv, " ")),
              ::testing::EndsWith("--keep 1,2 --check --leave 1003"));
  EXPECT_THAT(
      retires(plan, "node-3"),
      ::testing::EndsWith("unregister --config " +
                          std::string("/pilots/demo/client/client.librdkafka.properties --controller 1003")));
}

TEST(KafkaResize, AControllerThatIsLostIsReplacedByOneThatJoins) {
  auto wish = of_machines(4);
  wish.current = plan_cluster(wish).value();
  for (auto& node : wish.nodes) node.free_ports = {20009};
  wish.draining = {"node-1"};
  wish.as_far_as_possible = true;
  const auto plan = plan_cluster(wish).value();
  const auto& fourth = named(plan, "kafka/controller-4");
  EXPECT_TRUE(fourth.late);
  EXPECT_THAT(fourth.prepare.at(0).command.argv, Not(Contains("--voters")));
  EXPECT_EQ(bound(plan), "");
  EXPECT_THAT(retires(plan, "node-1"), ::testing::EndsWith("--broker 1 --controller 1001"));
  EXPECT_EQ(plan.health->argv.back(), "1001,1002,1003,1004") << "others' votes are removed";
}

TEST(KafkaPlan, OnlyControllersAreBoundAndTheDataAreLookedAfter) {
  const auto plan = plan_cluster(testing::input(2)).value();
  EXPECT_TRUE(named(plan, "kafka/controller-1").bound);
  EXPECT_FALSE(named(plan, "kafka/broker-1").bound);
  ASSERT_TRUE(plan.health.has_value());
  EXPECT_THAT(
      fmt::format("{}", fmt::join(plan.health->argv, " ")),
      ::testing::EndsWith("pilot-kafka health --config /pilots/demo/client/client.librdkafka.properties"));
  EXPECT_TRUE(plan.keeps.empty()) << "they are in the nodes' scratch";
}

TEST(KafkaPlan, DataThatOutliveThePilotAreOpenedByTheNext) {
  auto wish = testing::input(2);
  wish.framework.options["data"] = "/a,/b c";
  const auto first = plan_cluster(wish).value();
  const auto& broker = named(first, "kafka/broker-2");
  const auto cluster = first.keeps.at("cluster");
  EXPECT_EQ(first.keeps.at("brokers"), "1,2");
  const auto folder = fmt::format("/a/kafka-{}/broker-2", cluster);
  EXPECT_THAT(broker.directories,
              ::testing::IsSupersetOf({folder, fmt::format("/b c/kafka-{}/broker-2", cluster)}));
  EXPECT_THAT(broker.prepare[0].command.argv, Not(::testing::Contains("--existing")));

  auto again = testing::input(3);
  again.pilot_id = "another";
  again.framework.options["data"] = "/a,/b c";
  again.framework.reopen = first.keeps;
  const auto second = plan_cluster(again).value();
  EXPECT_EQ(second.keeps.at("cluster"), cluster);
  EXPECT_EQ(second.keeps.at("brokers"), "1,2,5") << "broker 3 could have been another's";
  EXPECT_THAT(named(second, "kafka/broker-2").directories, ::testing::Contains(folder));
  EXPECT_THAT(named(second, "kafka/broker-2").prepare[0].command.argv, ::testing::Contains("--existing"));
  EXPECT_THAT(named(second, "kafka/controller-1").prepare[0].command.argv, ::testing::Contains("--existing"));
  EXPECT_EQ(named(second, "kafka/controller-1").prepare[0].unless_exists, "") << "its quorum is moved";
  EXPECT_EQ(named(second, "kafka/broker-2").prepare[0].command.argv.end()[-2],
            "1001@" + std::get<model::TcpProbe>(named(second, "kafka/controller-1").ready.probe).address +
                ":" + std::to_string(named(second, "kafka/controller-1").ports.at("controller")));
  EXPECT_THAT(named(second, "kafka/broker-5").prepare[0].command.argv,
              Not(::testing::Contains("--existing")));
}

TEST(KafkaResize, NewBrokersMayStayEmpty) {
  auto wish = grown_input();
  wish.move = false;
  const auto plan = plan_cluster(wish).value();
  ASSERT_TRUE(plan.resize.has_value());
  EXPECT_FALSE(plan.resize->move.has_value());
}

TEST(KafkaResize, DrainingBrokersAreEmptiedAndForgotten) {
  auto wish = grown_input();
  wish.current = plan_cluster(wish).value();
  wish.nodes[2].free_ports.clear();
  wish.draining = {"node-4"};
  const auto plan = plan_cluster(wish).value();
  EXPECT_EQ(plan.services.size(), wish.current->services.size()) << "it runs until its data have moved";
  ASSERT_TRUE(plan.resize && plan.resize->move);
  EXPECT_THAT(fmt::format("{}", fmt::join(plan.resize->move->argv, " ")),
              ::testing::EndsWith("--keep 1,2 --drain 4"));
  ASSERT_TRUE(plan.resize->check);
  EXPECT_THAT(fmt::format("{}", fmt::join(plan.resize->check->argv, " ")),
              ::testing::EndsWith("--keep 1,2 --drain 4 --check"));
  EXPECT_THAT(fmt::format("{}", fmt::join(plan.resize->retire.at("node-4").argv, " ")),
              ::testing::EndsWith("--broker 4"));
  const auto& probe = std::get<model::CommandProbe>(plan.ready.probe).command.argv;
  EXPECT_THAT(fmt::format("{}", fmt::join(probe, " ")), HasSubstr("--expect 2 "))
      << "the others may be gone already";

  wish.as_far_as_possible = true;
  EXPECT_THAT(fmt::format("{}", fmt::join(plan_cluster(wish).value().resize->move->argv, " ")),
              ::testing::EndsWith("--keep 1,2 --drain 4 --as-far-as-possible"));

  wish.current = plan;
  wish.nodes.pop_back(), wish.draining.clear();
  const auto smaller = plan_cluster(wish).value();
  EXPECT_FALSE(smaller.resize.has_value());
  EXPECT_EQ(smaller.services.size(), plan.services.size() - 1);
}

}  // namespace
}  // namespace pilot::adaptors::kafka
