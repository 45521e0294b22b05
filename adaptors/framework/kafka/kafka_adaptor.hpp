// Kafka: a quorum of dedicated controllers, and brokers one per node.
#pragma once

#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::adaptors::kafka {

class KafkaAdaptor final : public plugin::FrameworkAdaptor {
 public:
  std::string_view name() const override { return "kafka"; }
  std::string_view summary() const override {
    return "Apache Kafka: message brokers with a log of their own";
  }
  std::string_view home_variable() const override { return "KAFKA_HOME"; }
  std::vector<plugin::OptionDoc> options() const override;
  Result<void> check(const model::FrameworkSpec& framework, const model::PilotSpec& spec) const override;
  Result<model::ClusterPlan> plan(const plugin::PlanInput& input) const override;
  std::optional<model::Command> topic_command(const plugin::TopicRequest& request,
                                              const model::ClusterPlan& cluster,
                                              const std::filesystem::path& tools_folder) const override;
  plugin::InstallRecipe install_recipe() const override;
  Result<plugin::Software> inspect(const std::filesystem::path& home, const std::filesystem::path& java,
                                   int java_version) const override;
};

}  // namespace pilot::adaptors::kafka
