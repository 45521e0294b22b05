#include "pilot/core/check_spec.hpp"

#include <gtest/gtest.h>

#include "pilot/core/dry_run.hpp"
#include "pilot/core/test_adaptors.hpp"

namespace pilot::core {
namespace {

class CheckSpec : public testing::Test {
 protected:
  CheckSpec() { spec.resource = "desk"; }

  std::string message() const {
    const auto checked = check_spec(registry, spec, origins);
    return checked.has_value() ? "no error" : checked.error().text();
  }

  plugin::Registry registry = testing_adaptors::registry();
  model::PilotSpec spec;
  std::map<std::string, std::string> origins;
};

TEST_F(CheckSpec, AcceptsWhatCanRun) {
  spec.batch["queue"] = "top";
  spec.frameworks = {{"echo", {{"voices", "2"}}, {{"any", "thing"}}}};
  EXPECT_EQ(message(), "no error");
}

TEST_F(CheckSpec, SuggestsResourceFrameworkAndOptions) {
  spec.resource = "dsek";
  origins["resource"] = "spec.yaml:2:11";
  EXPECT_EQ(message(), "spec.yaml:2:11: there is no resource 'dsek'; did you mean 'desk'?");
  spec.resource = "desk";
  spec.frameworks = {{"ehco", {}, {}}};
  EXPECT_EQ(message(), "there is no framework 'ehco'; did you mean 'echo'?");
  spec.frameworks = {{"echo", {{"voice", "2"}}, {}}};
  origins["frameworks.echo.voice"] = "--option";
  EXPECT_EQ(message(), "--option: framework 'echo' has no option 'voice'; did you mean 'voices'?");
  spec.frameworks.clear();
  spec.batch["quue"] = "x";
  EXPECT_EQ(message(), "resource 'desk' has no option 'quue'; did you mean 'queue'?");
}

TEST_F(CheckSpec, PutsThePlaceBeforeWhatAdaptorsRefuse) {
  origins = {{"nodes", "--nodes"},
             {"frameworks.echo", "spec.yaml:3:3"},
             {"frameworks.echo.voices", "spec.yaml:4:13"},
             {"frameworks.echo.config.listen", "spec.yaml:5:21"}};
  spec.nodes = 5;
  EXPECT_EQ(message(), "--nodes: nodes is more than 4");
  spec.nodes = 1;
  spec.frameworks = {{"echo", {{"voices", "0"}}, {}}};
  EXPECT_EQ(message(), "spec.yaml:4:13: voices must be at least 1");
  spec.frameworks = {{"echo", {}, {{"listen", "x"}}}};
  EXPECT_EQ(message(), "spec.yaml:5:21: config key 'listen' is reserved");
}

TEST_F(CheckSpec, ADryRunPlansOnExampleNodes) {
  spec.name = "demo";
  spec.nodes = 3;
  spec.frameworks = {{"echo", {}, {}}};
  Observer nobody;
  const auto run = dry_run({&registry, &system_clock(), &nobody}, spec);
  ASSERT_TRUE(run.has_value()) << run.error().text();
  EXPECT_EQ(run.value().script, "put 3 on the desk\n");
  ASSERT_EQ(run.value().plans.size(), 1u);
  ASSERT_EQ(run.value().plans[0].services.size(), 3u);
  EXPECT_EQ(run.value().plans[0].services[2].id, "echo/node-3");
  EXPECT_EQ(run.value().plans[0].version, "1.2");
  ASSERT_EQ(run.value().notes.size(), 1u);
  EXPECT_NE(run.value().notes[0].find("'pilot frameworks install echo' installs version 1.2"),
            std::string::npos);
}

}  // namespace
}  // namespace pilot::core
