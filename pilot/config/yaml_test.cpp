#include "pilot/config/yaml.hpp"

#include <gtest/gtest.h>

#include <random>

#include "pilot/config/pilot_settings.hpp"
#include "pilot/config/scenario.hpp"

namespace pilot::config {
namespace {

std::string yaml_message(std::string_view text) {
  const auto parsed = parse_yaml(text, "spec.yaml");
  return parsed.has_value() ? "no error" : parsed.error().text();
}

TEST(Yaml, KeepsPlaces) {
  const auto parsed = parse_yaml("name: demo\nnode: {cores: 1,\n  memory: 2G}\n", "spec.yaml");
  ASSERT_TRUE(parsed.has_value());
  const Value* memory = parsed.value().at({"node", "memory"});
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->text, "2G");
  EXPECT_EQ(memory->origin, "spec.yaml:3:11");
  EXPECT_EQ(parsed.value().entries[1].origin, "spec.yaml:2:1");
}

TEST(Yaml, RefusesWhatAReaderWouldMiss) {
  EXPECT_EQ(yaml_message("nodes: 1\nname: a\nnodes: 2\n"),
            "spec.yaml:3:1: key 'nodes' stands twice; the first is at spec.yaml:1:1");
  EXPECT_EQ(yaml_message("name: a\n---\nname: b\n"),
            "spec.yaml:2:1: more stands here after the end of the document; one file describes one thing");
  EXPECT_EQ(yaml_message("[1]: 2\n"), "spec.yaml:1:1: a key must be a word");
}

TEST(Yaml, SaysWhereTheSyntaxBreaks) {
  EXPECT_EQ(yaml_message("name: [a\nnodes: 3\n").substr(0, 12), "spec.yaml:2:");
  EXPECT_EQ(yaml_message("a:\n\t- b\n").substr(0, 12), "spec.yaml:2:");
}

// yaml-cpp's LoadAll() never ends on this one.
TEST(Yaml, ATextThatBeginsWithACommaIsRefused) {
  EXPECT_NE(yaml_message(",name: demo\nnodes: 3\n"), "no error");
}

TEST(Yaml, AliasesStandForTheirValue) {
  const auto parsed = parse_yaml("a: &x {k: 1}\nb: *x\n", "x");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
  ASSERT_NE(parsed.value().at({"b", "k"}), nullptr);
  EXPECT_EQ(parsed.value().at({"b", "k"})->text, "1");
}

TEST(Yaml, EmptyIsNull) {
  for (const char* text : {"", "\n# only a comment\n", "~"}) {
    const auto parsed = parse_yaml(text, "x");
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_TRUE(parsed.value().is_null()) << text;
  }
}

TEST(Yaml, AliasesOfAliasesEnd) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += "*a" + std::to_string(i - 1) + ",";
    bomb += "]\n";
  }
  EXPECT_NE(yaml_message(bomb).find("too large"), std::string::npos) << yaml_message(bomb);
  EXPECT_EQ(yaml_message("a: &a [*a]\n"), "spec.yaml:1:8: an alias within what it stands for");
  EXPECT_NE(yaml_message(std::string(100, '[') + std::string(100, ']')), "no error");
  EXPECT_NE(yaml_message(std::string(100000, '[')), "no error");
}

// Random edits of a good spec: each is read or refused with a place, never anything else.
TEST(Yaml, RandomEditsAreReadOrRefused) {
  const std::string good =
      "name: demo\nresource: local\nnodes: 3\nwalltime: 2h\nnode: {cores: 1, memory: 2G, scratch: $TMPDIR}\n"
      "network: {subnet: 127.77.0.0/16, ports: 20000-29999}\nsecurity: {encrypt: true}\nready_timeout: 3m\n"
      "frameworks:\n  kafka: {controllers: 1, config: {log.retention.hours: 1}}\n";
  const std::string letters = "abn0123-:{}[],&*!|>'\"%@`#\n\t ~.\\\xff\xc3";
  std::mt19937 random(1);
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = good;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const char letter = letters[random() % letters.size()];
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 5);
      } else if (random() % 2 == 0) {
        text[at] = letter;
      } else {
        text.insert(at, 1, letter);
      }
      if (text.empty()) text = "x";
    }
    auto parsed = parse_yaml(text, "spec.yaml");
    if (!parsed.has_value()) {
      EXPECT_EQ(parsed.error().code, ErrorCode::usage);
      EXPECT_EQ(parsed.error().message.substr(0, 9), "spec.yaml") << text;
      continue;
    }
    Value settings = parsed.value();
    normalise_frameworks(settings);
    const auto spec = decode_pilot_spec(settings);
    const auto scenario = parse_scenario(parsed.value());
    if (spec.has_value()) {
      ++read;
    } else {
      EXPECT_EQ(spec.error().message.substr(0, 9), "spec.yaml") << text << spec.error().text();
    }
    EXPECT_FALSE(scenario.has_value()) << text;
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace pilot::config
