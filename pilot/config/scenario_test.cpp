#include "pilot/config/scenario.hpp"

#include <gtest/gtest.h>

#include "pilot/config/yaml.hpp"

namespace pilot::config {
namespace {

Result<Scenario> parse(std::string_view text) {
  const auto document = parse_yaml(text, "run.yaml");
  if (!document.has_value()) return document.error();
  return parse_scenario(document.value());
}

std::string scenario_message(std::string_view text) {
  const auto parsed = parse(text);
  return parsed.has_value() ? "no error" : parsed.error().text();
}

TEST(Scenario, StepsBecomeCommandLines) {
  const auto parsed = parse(R"(
pilot: {name: demo, nodes: 3, frameworks: [kafka]}
sources:
  - light: {phantom: shepp-logan, size: 256, rate: 20/s, fly_scan: true, noise: false, tag: [a, b]}
processors:
  - gridrec: {parallelism: 2}
  - gridrec
output: results/
timeout: 90s
)");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
  const Scenario& scenario = parsed.value();
  ASSERT_EQ(scenario.sources.size(), 1u);
  EXPECT_EQ(scenario.sources[0].arguments(),
            (std::vector<std::string>{"--phantom", "shepp-logan", "--size", "256", "--rate", "20/s",
                                      "--fly-scan", "--tag", "a", "--tag", "b"}));
  ASSERT_EQ(scenario.processors.size(), 2u);
  EXPECT_EQ(scenario.processors[1].name, "gridrec");
  EXPECT_EQ(scenario.output, "results/");
  EXPECT_EQ(scenario.timeout, std::chrono::seconds(90));
  EXPECT_EQ(scenario.pilot.find("nodes")->text, "3");
}

TEST(Scenario, MessagesSayPlaceProblemAndRemedy) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "the scenario is empty"},
      {"name: demo\n",
       "run.yaml:1:1: unknown key 'name'; one of: output, pilot, processors, sources, timeout"},
      {"pilot: {}\nprocesors: []\n", "run.yaml:2:1: unknown key 'procesors'; did you mean 'processors'?"},
      {"sources: []\n", "run.yaml:1:1: a scenario needs a pilot; a spec under the key 'pilot'"},
      {"pilot: {}\nsources: light\n", "run.yaml:2:10: sources must be a list, not 'light'"},
      {"pilot: {}\nsources: [{light: 3}]\n", "run.yaml:2:19: the settings of light must be a map, not '3'"},
      {"pilot: {}\nsources: [{light: {a: {b: c}}}]\n",
       "run.yaml:2:23: light.a must be a value or a list, not a map"},
      {"pilot: {}\nsources: [{light: , heavy: }]\n",
       "run.yaml:2:11: each of sources must be a name with its settings, not several; for example '- light: "
       "{rate: "
       "20/s}'"},
      {"pilot: {}\ntimeout: -3\n",
       "run.yaml:2:10: timeout must be a time like 90s, 2h30m or 01:30:00, not '-3'"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(scenario_message(text), expected);
}

}  // namespace
}  // namespace pilot::config
