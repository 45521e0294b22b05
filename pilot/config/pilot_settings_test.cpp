#include "pilot/config/pilot_settings.hpp"

#include <gtest/gtest.h>

#include "pilot/config/yaml.hpp"

namespace pilot::config {
namespace {

Result<LocatedSpec> decode(std::string_view text) {
  auto parsed = parse_yaml(text, "spec.yaml");
  if (!parsed.has_value()) return parsed.error();
  normalise_frameworks(parsed.value());
  return decode_pilot_spec(parsed.value());
}

std::string message(std::string_view text) {
  const auto decoded = decode(text);
  if (decoded.has_value()) return "no error";
  EXPECT_EQ(decoded.error().code, ErrorCode::usage);
  return decoded.error().text();
}

TEST(PilotSettings, ReadsEveryKey) {
  const auto decoded = decode(R"(
name: demo
resource: local
nodes: 3
walltime: 2h
node: {cores: 1, memory: 2G, scratch: $TMPDIR}
network: {subnet: 127.78.0.0/16, ports: 21000-21999}
security: {encrypt: true}
ready_timeout: 4m
batch: {queue: normal, account: abc}
frameworks:
  kafka: {controllers: 1, config: {log.retention.hours: 1}}
)");
  ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
  model::PilotSpec expected;
  expected.name = "demo";
  expected.nodes = 3;
  expected.walltime = std::chrono::hours(2);
  expected.cores_per_node = 1;
  expected.memory_per_node = Bytes{std::uint64_t{2} << 30};
  expected.scratch = "$TMPDIR";
  expected.network = {"127.78.0.0/16", 21000, 21999};
  expected.encrypt = true;
  expected.ready_timeout = std::chrono::minutes(4);
  expected.batch = {{"queue", "normal"}, {"account", "abc"}};
  expected.frameworks = {{"kafka", {{"controllers", "1"}}, {{"log.retention.hours", "1"}}}};
  EXPECT_TRUE(decoded.value().spec == expected);
  EXPECT_EQ(decoded.value().origins.at("frameworks.kafka.controllers"), "spec.yaml:12:24");
}

TEST(PilotSettings, ListsUnderBatchAreLines) {
  const auto decoded = decode("batch: {extra: [--switches=1, \"--comment='a b'\"], skip: [mem, time]}\n");
  ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
  EXPECT_EQ(decoded.value().spec.batch.at("extra"), "--switches=1\n--comment='a b'");
  EXPECT_EQ(decoded.value().spec.batch.at("skip"), "mem\ntime");
  EXPECT_EQ(message("batch: {extra: {a: b}}\n"),
            "spec.yaml:1:16: batch.extra must be a single value, not a map");
}

TEST(PilotSettings, NothingIsTheDefaults) {
  const auto decoded = decode("");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE(decoded.value().spec == model::PilotSpec{});
}

// The documented defaults are those of the code.
TEST(PilotSettings, DocumentedDefaultsAreTrue) {
  Value settings = Value::map("");
  for (const SettingDoc& doc : setting_docs()) {
    if (doc.default_value.empty()) continue;
    const auto dot = doc.key.find('.');
    Value& top = settings.entry(std::string(doc.key.substr(0, dot)), "doc");
    Value& target =
        dot == std::string_view::npos ? top : top.entry(std::string(doc.key.substr(dot + 1)), "doc");
    target = Value::scalar(std::string(doc.default_value), "doc");
  }
  const auto decoded = decode_pilot_spec(settings);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
  EXPECT_TRUE(decoded.value().spec == model::PilotSpec{});
}

TEST(PilotSettings, TheFormsOfFrameworksAreEqual) {
  for (const char* text :
       {"frameworks: [kafka, spark]", "frameworks: kafka, spark", "frameworks: [kafka: , spark: {}]",
        "frameworks: {kafka: , spark: }", "frameworks:\n - kafka\n - spark\n"}) {
    const auto decoded = decode(text);
    ASSERT_TRUE(decoded.has_value()) << text << ": " << decoded.error().text();
    const std::vector<model::FrameworkSpec> expected{{"kafka", {}, {}}, {"spark", {}, {}}};
    EXPECT_TRUE(decoded.value().spec.frameworks == expected) << text;
  }
}

TEST(PilotSettings, MessagesSayPlaceProblemAndRemedy) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"name: demo\nframewroks: [kafka]\n",
       "spec.yaml:2:1: unknown key 'framewroks'; did you mean 'frameworks'?"},
      {"node: {core: 1}\n", "spec.yaml:1:8: unknown key 'node.core'; did you mean 'cores'?"},
      {"nodes: three\n", "spec.yaml:1:8: nodes must be a whole number, not 'three'"},
      {"nodes: 1.5\n", "spec.yaml:1:8: nodes must be a whole number, not '1.5'"},
      {"nodes: -2\n", "spec.yaml:1:8: nodes must be at least 1, not -2"},
      {"nodes: 0\n", "spec.yaml:1:8: nodes must be at least 1, not 0"},
      {"nodes: 99999999999999999999\n",
       "spec.yaml:1:8: nodes must be at most 100000, not 99999999999999999999"},
      {"nodes: -99999999999999999999\n",
       "spec.yaml:1:8: nodes must be at least 1, not -99999999999999999999"},
      {"nodes: [3]\n", "spec.yaml:1:8: nodes must be a whole number, not a list"},
      {"node: 3\n", "spec.yaml:1:7: node must be a map with keys like 'cores', not '3'"},
      {"node: {memory: lots}\n", "spec.yaml:1:16: node.memory must be a size like 512M or 2G, not 'lots'"},
      {"node: {memory: -1G}\n", "spec.yaml:1:16: node.memory must be a size like 512M or 2G, not '-1G'"},
      {"node: {memory: 5}\n", "spec.yaml:1:16: node.memory must be at least 1M, not '5'"},
      {"walltime: soon\n", "spec.yaml:1:11: walltime must be a time like 90s, 2h30m or 01:30:00, not 'soon'"},
      {"walltime: 30\n", "spec.yaml:1:11: walltime: '30' may be minutes or seconds; write 30m or 30s"},
      {"walltime: 0\n", "spec.yaml:1:11: walltime must be longer than zero, not '0'"},
      {"security: {encrypt: maybe}\n", "spec.yaml:1:21: security.encrypt must be true or false, not 'maybe'"},
      {"network: {ports: 30-20}\n",
       "spec.yaml:1:18: network.ports must be a range like 20000-29999, not '30-20'; ports from 1024 to "
       "65535"},
      {"network: {subnet: 127.0.0.0/40}\n",
       "spec.yaml:1:19: network.subnet must be like 127.77.0.0/16, not '127.0.0.0/40'"},
      {"name: 'a b'\n",
       "spec.yaml:1:7: 'a b' can't name a pilot; up to 63 letters, digits, '.', '_' and '-', beginning with "
       "a letter "
       "or digit"},
      {"name: ../x\n",
       "spec.yaml:1:7: '../x' can't name a pilot; up to 63 letters, digits, '.', '_' and '-', beginning with "
       "a letter "
       "or digit"},
      {"frameworks: {kafka: 3}\n", "spec.yaml:1:21: frameworks.kafka must be a map, not '3'"},
      {"frameworks: {kafka: {controllers: [1]}}\n",
       "spec.yaml:1:35: frameworks.kafka.controllers must be a single value, not a list"},
      {"frameworks: [[kafka]]\n", "spec.yaml:1:13: frameworks must be a list of names or a map, not a list"},
      {"- a\n", "spec.yaml:1:1: this must be a map with keys like 'name', not a list"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(message(text), expected);
}

}  // namespace
}  // namespace pilot::config
