// A framework of processes that sleep, and a batch system that does what a test says.
#pragma once

#include <functional>
#include <string>

#include "pilot/plugin/batch_adaptor.hpp"
#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::agent::test {

using namespace std::chrono_literals;

// One controller on the first node, then a worker on each.  A worker fails when "fail" is set to its id,
// and does not hear TERM when "stubborn" is.
class FakeFramework : public plugin::FrameworkAdaptor {
 public:
  std::string_view name() const override { return "fake"; }
  std::string_view summary() const override { return "processes that sleep"; }
  std::vector<plugin::OptionDoc> options() const override { return {}; }
  Result<void> check(const model::FrameworkSpec&, const model::PilotSpec&) const override { return ok(); }
  plugin::InstallRecipe install_recipe() const override { return {}; }
  std::string_view home_variable() const override { return "FAKE_HOME"; }
  Result<plugin::Software> inspect(const std::filesystem::path&, const std::filesystem::path&,
                                   int) const override {
    return plugin::Software{};
  }

  Result<model::ClusterPlan> plan(const plugin::PlanInput& input) const override {
    model::ClusterPlan plan;
    plan.framework = "fake";
    plan.version = input.software.version;
    plan.services.push_back(service(input, "fake/controller", input.nodes.front(), 0));
    for (const auto& node : input.nodes)
      plan.services.push_back(service(input, "fake/worker-" + node.id, node, 1));
    model::Command probe{{"test", "-e", input.nodes.front().scratch + "/fake/controller/up"}, {}, ""};
    plan.ready.probe = model::CommandProbe{probe, 5s};
    plan.ready.interval = 20ms;
    plan.client_files = {{input.client_folder / "fake.properties", "password=${secret:fake}", 0600}};
    return plan;
  }

 private:
  static model::ServiceSpec service(const plugin::PlanInput& input, const std::string& id,
                                    const model::NodeInfo& node, int stage) {
    const std::string folder = node.scratch + "/" + id;
    model::ServiceSpec spec;
    spec.id = id;
    spec.node = node.id;
    spec.stage = stage;
    spec.directories = {folder};
    spec.files = {{folder + "/secret", "${secret:fake}", 0600}};
    spec.command = {{"sh", "-c", "touch up; exec sleep 300"}, {}, folder};
    spec.stop.grace = 5s;
    if (const auto fail = input.framework.options.find("fail");
        fail != input.framework.options.end() && fail->second == id)
      spec.command.argv[2] = "echo the disk is on fire; exit 3";
    if (const auto stubborn = input.framework.options.find("stubborn");
        stubborn != input.framework.options.end() && stubborn->second == id) {
      spec.command.argv[2] = "trap '' TERM; touch up; while :; do sleep 0.1; done";
      spec.stop.grace = 60s;
    }
    spec.log = input.log_folder / (id + ".log");
    spec.ready.probe = model::CommandProbe{{{"test", "-e", folder + "/up"}, {}, ""}, 5s};
    spec.ready.interval = 20ms;
    spec.restart.first_backoff = 500ms;  // longer than a head gathers messages: it sees that a service waits
    spec.restart.max_restarts = 2;
    return spec;
  }
};

class FakeBatch : public plugin::BatchAdaptor {
 public:
  explicit FakeBatch(std::function<void(int)> on_launch) : on_launch_(std::move(on_launch)) {}
  std::string_view name() const override { return "fakebatch"; }
  std::string_view summary() const override { return ""; }
  std::vector<plugin::OptionDoc> options() const override { return {}; }
  Result<void> check(const model::PilotSpec&) const override { return ok(); }
  Result<std::vector<std::string>> validate(const plugin::AllocationRequest&) override {
    return std::vector<std::string>{};
  }
  Result<std::string> render(const plugin::AllocationRequest&) const override { return std::string(); }
  Result<std::string> submit(const plugin::AllocationRequest&) override { return std::string("job"); }
  Result<std::vector<plugin::AllocationStatus>> poll(const plugin::AllocationRequest&,
                                                     const std::vector<std::string>&) override {
    return std::vector<plugin::AllocationStatus>{};
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
  Result<void> launch_agent(const plugin::AllocationRequest&, const std::string&, int rank) override {
    on_launch_(rank);  // from a thread of the head
    return ok();
  }

 private:
  std::function<void(int)> on_launch_;
};

}  // namespace pilot::agent::test
