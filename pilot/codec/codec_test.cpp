#include "pilot/codec/codec.hpp"

#include <gtest/gtest.h>

#include <random>

namespace pilot::codec {
namespace {

using namespace std::chrono_literals;

model::ServiceSpec some_service() {
  model::ServiceSpec service;
  service.id = "kafka/broker-1";
  service.role = "broker";
  service.node = "node-1";
  service.stage = 1;
  service.early = true;
  service.late = true;
  service.command = {{"java", "-cp", "a b\"c\n"}, {{"X", "y"}}, "/tmp"};
  service.directories = {"/tmp/d"};
  service.files = {{"/tmp/f", "password=${secret:kafka.password}\n", 0600}};
  service.prepare = {{{{"format"}, {}, {}}, "/tmp/d/meta.properties", 10s}};
  service.ports = {{"client", 20001}};
  service.log = "/tmp/log";
  service.log_limit = Bytes{5};
  service.ready = {model::TcpProbe{"127.0.0.1", 20001}, 100ms, 90s};
  service.stop = {15, 30s};
  service.restart = {3, 10min, 500ms, 30s};
  return service;
}

model::ClusterPlan some_plan() {
  model::ClusterPlan plan;
  plan.framework = "kafka";
  plan.version = "4.3.1";
  plan.services = {some_service()};
  plan.ready.probe = model::CommandProbe{{{"pilot-kafka", "ready"}, {}, {}}, 10s};
  plan.client_files = {{"client.properties", "x", 0600}};
  plan.exports = {{"KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:20001"}};
  plan.nodes = {"node-1", "node-4"};
  plan.health = model::Command{{"health"}, {}, {}};
  plan.keeps = {{"cluster", "x"}};
  plan.resize = model::ResizePlan{{"node-4"},
                                  model::Command{{"move"}, {}, {}},
                                  model::Command{{"check"}, {}, {}},
                                  {{"node-4", {{"retire"}, {}, {}}}}};
  return plan;
}

model::PilotSpec some_spec() {
  model::PilotSpec spec;
  spec.name = "demo";
  spec.walltime = 2h;
  spec.memory_per_node = Bytes{1 << 30};
  spec.batch = {{"queue", "normal"}};
  spec.lost_after = 7s;
  spec.frameworks = {{"kafka", {{"controllers", "3"}}, {{"log.retention.hours", "1"}}, {{"cluster", "x"}}}};
  return spec;
}

const model::ProcessIdentity some_process{4711, 123456789012345ULL, "boot"};

std::vector<model::EventBody> every_event() {
  model::NodeInfo node{"node-1", "a0",        0,        "host",     "127.77.0.1", "leaf1",
                       2,        Bytes{1024}, "/tmp/s", {1, 65535}, some_process, "1"};
  return {model::PilotCreated{"abc", some_spec(), "0.1", "me", "here"},
          model::AllocationSubmitted{"a0", "42.head", 3},
          model::AllocationChanged{"a0", model::AllocationPhase::suspended, "SUSPENDED", WallTime{7s}},
          model::HeadStarted{some_process, "here", "tcp://127.0.0.1:1", 2, "node-1"},
          model::NodeRegistered{node, -5min},
          model::NodeChanged{"node-1", model::NodePhase::lost, "no heartbeat for 5s"},
          model::ClusterPlanned{some_plan()},
          model::ClusterReady{"kafka"},
          model::ServiceChanged{"kafka/broker-1", model::ServicePhase::waiting, some_process, 2, "killed",
                                "tail\n"},
          model::PilotPhaseChanged{model::PilotPhase::degraded, "why"},
          model::Note{"text with \"quotes\" and \xc3\xa4"},
          model::ExtensionRequested{"a1", 2, 4, 90min, false, "a0", "50MB/s"},
          model::NodeCordoned{"node-1", true, "pilot shrink", "none"},
          model::DataMoved{"kafka", "3 replicas on 2 brokers"},
          model::NodesReturned{"a0", {"node-1"}, "it was resized before"},
          model::ClusterChecked{"kafka", "1 of 2 partitions"}};
}

TEST(Codec, EveryEventSurvivesTheRoundTrip) {
  const auto bodies = every_event();
  ASSERT_EQ(bodies.size(), std::variant_size_v<model::EventBody>);
  for (const auto& body : bodies) {
    const model::Event event{7, WallTime{1234567890123456789ns}, body};
    const std::string text = encode(event);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    auto back = decode_event(text);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(back.value(), event) << text;
  }
}

TEST(Codec, EveryMessageSurvivesTheRoundTrip) {
  model::PilotState state;
  std::uint64_t sequence = 0;
  for (auto& body : every_event()) model::apply(state, {++sequence, WallTime{5ns}, body});
  const std::vector<model::MessageBody> bodies = {
      model::RegisterNode{state.nodes.at("node-1").info,
                          {{"kafka/broker-1", model::ServicePhase::ready, some_process, 0, "", ""}},
                          90min,
                          WallTime{8s}},
      model::NodeAccepted{{"a", "b"}},
      model::Heartbeat{"node-1"},
      model::RegisterAgain{},
      model::ServiceReport{"node-1", 9, {"kafka/broker-1", model::ServicePhase::failed, {}, 0, "x", "y"}},
      model::ReportsStored{9},
      model::StartServices{{some_service()}},
      model::StopServices{{"a"}},
      model::ReleaseNode{},
      model::NodeReleased{"node-1", {"pid 4"}},
      model::GetStatus{},
      model::StopPilot{"asked"},
      model::Status{state, {{{"a1", {90s, Bytes{4096}, Bytes{1024}}}}}},
      model::Accepted{},
      model::Refused{make_error(ErrorCode::not_found, "m", "h")},
      model::ExtendPilot{2, 90min, false, true, "none"},
      model::ExtensionSubmitted{"a1", "4711"},
      model::ExtensionRefused{"a1", "invalid partition"},
      model::ShrinkPilot{{"node-4"}, 1, "1G"},
      model::ExtensionPlanned{"a1", 4},
      model::ShrinkPlanned{{"node-4"}}};
  ASSERT_EQ(bodies.size(), std::variant_size_v<model::MessageBody>);
  for (const auto& body : bodies) {
    const model::Message message{"id-1", body};
    auto back = decode_message(encode(message));
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(back.value(), message) << encode(message);
  }
}

TEST(Codec, NamesTheFieldThatIsWrong) {
  auto missing = decode_event(R"({"seq":1,"kind":"note","text":"x"})");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, "not a valid event: field 'at' is missing");
  auto wrong = decode_event(R"({"seq":"1","at":"2026-11-29T00:00:00.000000000Z","kind":"note","text":"x"})");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "not a valid event: seq: is not a whole number");
  auto kind = decode_event(R"({"seq":1,"at":"2026-11-29T00:00:00.000000000Z","kind":"nonsense"})");
  ASSERT_FALSE(kind.has_value());
  EXPECT_EQ(kind.error().message, "not a valid event: has no kind 'nonsense'");
}

TEST(Codec, RefusesNumbersThatDoNotFit) {
  std::string text = encode(some_service());
  const auto at = text.find("20001");
  text.replace(at, 5, "70000");
  EXPECT_FALSE(decode_service(text).has_value());
}

TEST(Codec, RefusesTimesThatNanosecondsCannotCount) {
  EXPECT_FALSE(decode_event(R"({"seq":1,"at":"9026-11-29T00:00:00.000000000Z","kind":"note","text":"x"})")
                   .has_value());
}

TEST(Codec, IgnoresFieldsOfNewerPrograms) {
  auto event =
      decode_event(R"({"seq":1,"at":"2026-11-29T00:00:00.000000000Z","kind":"note","text":"x","new":[1]})");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event.value().body, model::EventBody{model::Note{"x"}});
}

TEST(Codec, RefusesAnotherProtocolVersionNamingBoth) {
  auto message = decode_message(R"({"v":99,"id":"","verb":"whatever","body":{}})");
  ASSERT_FALSE(message.has_value());
  EXPECT_EQ(message.error().code, ErrorCode::unavailable);
  EXPECT_NE(message.error().message.find("version 99, this program speaks 1"), std::string::npos);
}

TEST(Codec, BytesThatAreNotTextDoNotStopALog) {
  const model::Event event{1, WallTime{}, model::Note{std::string("\xff\xfe broken \x00 end", 16)}};
  EXPECT_TRUE(decode_event(encode(event)).has_value());
}

// Damaged input is refused or read, never a crash: bytes of valid texts are changed, dropped and doubled.
TEST(Codec, SurvivesDamagedInput) {
  std::mt19937 random(20261129);
  std::vector<std::string> texts;
  for (const auto& body : every_event()) texts.push_back(encode(model::Event{1, WallTime{}, body}));
  texts.push_back(encode(model::Message{"x", model::StartServices{{some_service()}}}));
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[random() % texts.size()];
    for (unsigned hits = random() % 4 + 1; hits > 0; --hits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 8 + 1);
          break;
        default:
          text.insert(at, text.substr(at, random() % 20));
          break;
      }
      if (text.empty()) text = "{";
    }
    (void)decode_event(text);
    (void)decode_message(text);
    (void)decode_state(text);
  }
}

}  // namespace
}  // namespace pilot::codec
