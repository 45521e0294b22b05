#include "pilot/plugin/registry.hpp"

#include <gtest/gtest.h>

namespace pilot::plugin {
namespace {

class NoFramework final : public FrameworkAdaptor {
 public:
  std::string_view name() const override { return "kafka"; }
  std::string_view summary() const override { return "a test"; }
  std::vector<OptionDoc> options() const override { return {}; }
  Result<void> check(const model::FrameworkSpec&, const model::PilotSpec&) const override { return ok(); }
  Result<model::ClusterPlan> plan(const PlanInput&) const override { return model::ClusterPlan{}; }
  InstallRecipe install_recipe() const override { return {}; }
  std::string_view home_variable() const override { return "KAFKA_HOME"; }
  Result<Software> inspect(const std::filesystem::path&, const std::filesystem::path&, int) const override {
    return Software{};
  }
};

TEST(Registry, FindsAnAdaptorByName) {
  Registry registry;
  registry.add(std::make_unique<NoFramework>());
  auto found = registry.framework("kafka");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found.value()->name(), "kafka");
  EXPECT_EQ(registry.frameworks().size(), 1u);
}

TEST(Registry, SuggestsTheNearestName) {
  Registry registry;
  registry.add(std::make_unique<NoFramework>());
  auto found = registry.framework("kafak");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::usage);
  EXPECT_NE(found.error().text().find("did you mean 'kafka'?"), std::string::npos) << found.error().text();
}

}  // namespace
}  // namespace pilot::plugin
