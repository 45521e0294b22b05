#include "pilot/config/layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/config/pilot_settings.hpp"
#include "pilot/config/yaml.hpp"

namespace pilot::config {
namespace {

class Layers : public testing::Test {
 protected:
  Layers() {
    input.files = {folder / "pilot.yaml", folder / "user.yaml", folder / "site"};
    EXPECT_TRUE(make_directory(folder / "site").has_value());
  }
  ~Layers() override { EXPECT_TRUE(remove_tree(folder).has_value()); }

  void write(const std::string& name, std::string_view text) {
    EXPECT_TRUE(write_file(folder / name, text).has_value());
  }

  LocatedSpec load() {
    auto merged = merge_layers(input);
    EXPECT_TRUE(merged.has_value()) << merged.error().text();
    if (!merged.has_value()) return {};
    auto decoded = decode_pilot_spec(merged.value());
    EXPECT_TRUE(decoded.has_value()) << decoded.error().text();
    return decoded.has_value() ? decoded.value() : LocatedSpec{};
  }

  std::string message() {
    auto merged = merge_layers(input);
    return merged.has_value() ? "no error" : merged.error().text();
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-layers-" + random_hex(6));
  LayerInput input;
};

TEST_F(Layers, AHigherLayerWins) {
  EXPECT_EQ(load().spec.nodes, 1);
  write("site/a.yaml", "nodes: 2\nresource: site\n");
  EXPECT_EQ(load().spec.nodes, 2);
  write("site/b.yaml", "nodes: 3\n");
  EXPECT_EQ(load().spec.nodes, 3);
  write("user.yaml", "nodes: 4\n");
  EXPECT_EQ(load().spec.nodes, 4);
  write("pilot.yaml", "nodes: 5\n");
  EXPECT_EQ(load().spec.nodes, 5);
  write("spec.yaml", "nodes: 6\n");
  input.spec_file = folder / "spec.yaml";
  EXPECT_EQ(load().spec.nodes, 6);
  input.environment["PILOT_NODES"] = "7";
  EXPECT_EQ(load().spec.nodes, 7);
  input.flags.push_back({{"nodes"}, "8", "--nodes"});
  const LocatedSpec located = load();
  EXPECT_EQ(located.spec.nodes, 8);
  EXPECT_EQ(located.spec.resource, "site");
  EXPECT_EQ(located.origins.at("nodes"), "--nodes");
  EXPECT_EQ(located.origins.at("resource"), (folder / "site/a.yaml").string() + ":2:11");
}

TEST_F(Layers, NestedKeysMergeOneByOne) {
  write("user.yaml", "node: {cores: 2, scratch: /scratch}\n");
  input.environment["PILOT_NODE__MEMORY"] = "1G";
  const auto spec = load().spec;
  EXPECT_EQ(spec.cores_per_node, 2);
  EXPECT_EQ(spec.scratch, "/scratch");
  EXPECT_EQ(spec.memory_per_node.count, std::uint64_t{1} << 30);
}

TEST_F(Layers, FrameworksAreASetWhoseSettingsMerge) {
  write("user.yaml", "frameworks: {kafka: {controllers: 3}, spark: }\n");
  write("spec.yaml", "frameworks: [kafka]\n");
  input.spec_file = folder / "spec.yaml";
  auto frameworks = load().spec.frameworks;
  ASSERT_EQ(frameworks.size(), 1u);
  EXPECT_EQ(frameworks[0].options.at("controllers"), "3");

  input.flags.push_back({{"frameworks"}, "spark", "--framework"});
  input.flags.push_back({{"frameworks"}, "kafka", "--framework"});
  frameworks = load().spec.frameworks;
  EXPECT_EQ(frameworks.size(), 2u);
}

TEST_F(Layers, OptionsOfFrameworks) {
  input.flags.push_back({{"frameworks"}, "kafka", "--framework"});
  input.flags.push_back(parse_option_flag("kafka.controllers=3").value());
  input.flags.push_back(parse_option_flag("kafka.config.log.retention.hours=1").value());
  input.environment["PILOT_FRAMEWORKS__KAFKA__BROKERS"] = "2";
  const auto kafka = load().spec.frameworks.at(0);
  EXPECT_EQ(kafka.options, (std::map<std::string, std::string>{{"brokers", "2"}, {"controllers", "3"}}));
  EXPECT_EQ(kafka.config, (std::map<std::string, std::string>{{"log.retention.hours", "1"}}));

  input.flags.push_back(parse_option_flag("kafak.controllers=3").value());
  EXPECT_EQ(message(), "--option: the pilot has no framework 'kafak'; did you mean 'kafka'?");
  EXPECT_EQ(parse_option_flag("controllers=3").error().text(),
            "--option: 'controllers=3' is not of the form FRAMEWORK.OPTION=VALUE; for example "
            "kafka.controllers=3, or kafka.config.log.retention.hours=1");
}

TEST_F(Layers, VariablesThatAreNearlySettingsAreMistakes) {
  input.environment = {{"PILOT_HOME", "/x"}, {"PILOT_FROM_ANOTHER_PROGRAM", "1"}, {"PATH", "/bin"}};
  EXPECT_EQ(message(), "no error");
  input.environment["PILOT_NODS"] = "3";
  EXPECT_EQ(message(), "environment variable PILOT_NODS is no setting; did you mean 'PILOT_NODES'?");
}

TEST_F(Layers, WrongValuesNameTheirLayer) {
  input.environment["PILOT_NODES"] = "many";
  auto merged = merge_layers(input);
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(decode_pilot_spec(merged.value()).error().text(),
            "PILOT_NODES: nodes must be a whole number, not 'many'");
}

TEST_F(Layers, AMissingSpecFileIsNotFound) {
  input.spec_file = folder / "nothing.yaml";
  const auto merged = merge_layers(input);
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::not_found);
}

TEST_F(Layers, ShowSaysWhereEachValueComesFrom) {
  input.flags.push_back({{"nodes"}, "3", "-N"});
  input.flags.push_back({{"frameworks"}, "kafka", "--framework"});
  const auto shown = show_settings(merge_layers(input).value());
  const auto find = [&](std::string_view key) {
    return *std::find_if(shown.begin(), shown.end(), [&](const auto& one) { return one.key == key; });
  };
  EXPECT_EQ(find("nodes").origin, "-N");
  EXPECT_EQ(find("resource").origin, "default");
  EXPECT_EQ(find("resource").value, "local");
  EXPECT_EQ(find("frameworks").value, "kafka");
}

}  // namespace
}  // namespace pilot::config
