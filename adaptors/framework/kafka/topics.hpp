// `pilot topic` on Kafka: which command of pilot-kafka does it.
#pragma once

#include <filesystem>

#include "pilot/model/service_spec.hpp"
#include "pilot/plugin/topics.hpp"

namespace pilot::adaptors::kafka {

model::Command topic_command(const plugin::TopicRequest& request, const model::ClusterPlan& cluster,
                             const std::filesystem::path& tools_folder);

}  // namespace pilot::adaptors::kafka
