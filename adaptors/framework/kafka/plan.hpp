// The services of a Kafka cluster.
#pragma once

#include "pilot/base/result.hpp"
#include "pilot/model/service_spec.hpp"
#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::adaptors::kafka {

// Controllers in stage 0, ready when they accept connections; brokers in stage 1 but early, ready when they
// answer Metadata to an authenticated client and list themselves.  The cluster is ready when a broker lists
// all. Errors: usage.
Result<model::ClusterPlan> plan_cluster(const plugin::PlanInput& input);

}  // namespace pilot::adaptors::kafka
