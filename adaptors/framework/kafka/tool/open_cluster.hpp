// The cluster that a verb's `--config FILE` leads to.
#pragma once

#include "adaptors/framework/kafka/protocol/cluster_client.hpp"
#include "adaptors/framework/kafka/tool/arguments.hpp"

namespace pilot::adaptors::kafka {

// Errors: usage; not_found, failed (the file).
Result<protocol::ClusterClient> open_cluster(const Arguments& arguments);

}  // namespace pilot::adaptors::kafka
