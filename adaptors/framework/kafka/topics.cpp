#include "adaptors/framework/kafka/topics.hpp"

#include <fmt/format.h>

namespace pilot::adaptors::kafka {

namespace {

const char* verb_of(plugin::TopicRequest::Verb verb) {
  switch (verb) {
    case plugin::TopicRequest::Verb::list:
      return "list";
    case plugin::TopicRequest::Verb::describe:
      return "describe";
    case plugin::TopicRequest::Verb::create:
      return "create";
    case plugin::TopicRequest::Verb::grow:
      return "grow";
  }
  return "list";
}

}  // namespace

model::Command topic_command(const plugin::TopicRequest& request, const model::ClusterPlan& cluster,
                             const std::filesystem::path& tools_folder) {
  model::Command command;
  auto& argv = command.argv;
  argv = {(tools_folder / "pilot-kafka").string(), "topic", verb_of(request.verb)};
  if (!request.topic.empty()) argv.push_back(request.topic);
  const auto config = cluster.exports.find("PILOT_KAFKA_CONFIG");
  argv.push_back("--config=" + (config == cluster.exports.end() ? "" : config->second));
  argv.push_back(fmt::format("--timeout={}ms",
                             std::chrono::duration_cast<std::chrono::milliseconds>(request.timeout).count()));
  if (request.partitions > 0) argv.push_back(fmt::format("--partitions={}", request.partitions));
  if (request.replicas > 0) argv.push_back(fmt::format("--replicas={}", request.replicas));
  std::string settings;
  for (const auto& [key, value] : request.settings)
    settings += fmt::format("{}{}={}", settings.empty() ? "" : ",", key, value);
  if (!settings.empty()) argv.push_back("--set=" + settings);
  if (request.if_absent) argv.emplace_back("--if-absent");
  return command;
}

}  // namespace pilot::adaptors::kafka
