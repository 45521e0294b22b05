// Adaptors for tests of use cases: a framework that needs nothing, a resource that gives nothing.
#pragma once

#include "pilot/plugin/registry.hpp"

namespace pilot::core::testing_adaptors {

class TestFramework final : public plugin::FrameworkAdaptor {
 public:
  std::string_view name() const override { return "echo"; }
  std::string_view summary() const override { return "says what it hears"; }
  std::vector<plugin::OptionDoc> options() const override { return {{"voices", "1", "how many"}}; }
  Result<void> check(const model::FrameworkSpec& framework, const model::PilotSpec&) const override {
    const auto voices = framework.options.find("voices");
    if (voices != framework.options.end() && voices->second == "0")
      return make_error(ErrorCode::usage, "voices must be at least 1");
    if (framework.config.contains("listen"))
      return make_error(ErrorCode::usage, "config key 'listen' is reserved");
    return ok();
  }
  Result<model::ClusterPlan> plan(const plugin::PlanInput& input) const override {
    model::ClusterPlan plan;
    plan.framework = "echo";
    plan.version = input.software.version;
    for (const model::NodeInfo& node : input.nodes) {
      model::ServiceSpec service;
      service.id = "echo/" + node.id;
      service.node = node.id;
      service.ports["client"] = node.free_ports.at(0);
      plan.services.push_back(std::move(service));
    }
    return plan;
  }
  plugin::InstallRecipe install_recipe() const override { return {"echo", "1.2", "install.sh"}; }
  std::string_view home_variable() const override { return "PILOT_TEST_ECHO_HOME"; }
  Result<plugin::Software> inspect(const std::filesystem::path& home, const std::filesystem::path& java,
                                   int) const override {
    if (!std::filesystem::exists(home / "echo"))
      return make_error(ErrorCode::not_found, "there is no echo in '" + home.string() + "'");
    return plugin::Software{"echo", "1.2", home, "", java, {}};
  }
};

class TestBatch : public plugin::BatchAdaptor {
 public:
  std::string_view name() const override { return "desk"; }
  std::string_view summary() const override { return "a desk"; }
  std::vector<plugin::OptionDoc> options() const override { return {{"queue", "", "which drawer"}}; }
  Result<void> check(const model::PilotSpec& spec) const override {
    if (spec.nodes > 4) return make_error(ErrorCode::usage, "nodes is more than 4");
    return ok();
  }
  Result<std::vector<std::string>> validate(const plugin::AllocationRequest&) override {
    return std::vector<std::string>{};
  }
  Result<std::string> render(const plugin::AllocationRequest& request) const override {
    return "put " + std::to_string(request.nodes) + " on the desk\n";
  }
  Result<std::string> submit(const plugin::AllocationRequest&) override {
    return make_error(ErrorCode::unavailable, "the desk is full");
  }
  Result<std::vector<plugin::AllocationStatus>> poll(const plugin::AllocationRequest&,
                                                     const std::vector<std::string>& ids) override {
    return std::vector<plugin::AllocationStatus>(ids.size());
  }
  Result<void> cancel(const plugin::AllocationRequest&, const std::string&) override { return ok(); }
  Result<void> can_release(const plugin::AllocationRequest&, const std::string&, const std::vector<int>&,
                           bool) override {
    return ok();
  }
  Result<void> release(const plugin::AllocationRequest&, const std::string&,
                       const std::vector<int>&) override {
    return ok();
  }
  Result<void> launch_agent(const plugin::AllocationRequest&, const std::string&, int) override {
    return make_error(ErrorCode::not_found, "there is no agent");
  }
};

inline plugin::Registry registry() {
  plugin::Registry made;
  made.add(std::make_unique<TestFramework>());
  made.add(std::make_unique<TestBatch>());
  return made;
}

}  // namespace pilot::core::testing_adaptors
