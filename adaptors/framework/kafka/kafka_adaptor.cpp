#include "adaptors/framework/kafka/kafka_adaptor.hpp"

#include <fmt/format.h>

#include "adaptors/framework/kafka/options.hpp"
#include "adaptors/framework/kafka/placement.hpp"
#include "adaptors/framework/kafka/plan.hpp"
#include "adaptors/framework/kafka/software.hpp"
#include "adaptors/framework/kafka/topics.hpp"

namespace pilot::adaptors::kafka {

std::vector<plugin::OptionDoc> KafkaAdaptor::options() const {
  return option_docs();
}

Result<void> KafkaAdaptor::check(const model::FrameworkSpec& framework, const model::PilotSpec& spec) const {
  PILOT_TRY(const auto options, parse_options(framework));
  const auto too_many = [&](const char* option, int wanted) {
    return make_error(ErrorCode::usage,
                      fmt::format("kafka.{} is {}, but the pilot has {} node{}", option, wanted, spec.nodes,
                                  spec.nodes == 1 ? "" : "s"),
                      "one runs on a node at most");
  };
  if (const int wanted = options.controllers.value_or(1); wanted > spec.nodes)
    return too_many("controllers", wanted);
  if (options.brokers > spec.nodes) return too_many("brokers", options.brokers);
  PILOT_TRY(const auto reopened, parse_reopened(framework.reopen));
  const int brokers = options.brokers == 0 ? spec.nodes : options.brokers;
  return reopened ? check_reopened(*reopened, options, brokers) : ok();
}

Result<model::ClusterPlan> KafkaAdaptor::plan(const plugin::PlanInput& input) const {
  return plan_cluster(input);
}

std::optional<model::Command> KafkaAdaptor::topic_command(const plugin::TopicRequest& request,
                                                          const model::ClusterPlan& cluster,
                                                          const std::filesystem::path& tools_folder) const {
  return kafka::topic_command(request, cluster, tools_folder);
}

plugin::InstallRecipe KafkaAdaptor::install_recipe() const {
  return {"kafka", PILOT_KAFKA_VERSION, "install.sh"};
}

Result<plugin::Software> KafkaAdaptor::inspect(const std::filesystem::path& home,
                                               const std::filesystem::path& java, int java_version) const {
  return inspect_software(home, java, java_version);
}

}  // namespace pilot::adaptors::kafka
