// What `pilot start` would do, without doing or contacting anything.
#pragma once

#include <string>
#include <vector>

#include "pilot/core/context.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::core {

struct DryRun {
  std::string script;                     // what would be submitted
  std::vector<model::ClusterPlan> plans;  // on example nodes
  std::vector<std::string> notes;         // "kafka is not installed: its plan names example paths"
};

// The spec must have passed check_spec().  Nodes have example addresses and the spec's or this machine's
// shares; the plan of a second framework stands on the same nodes as it would.  Errors: usage.
Result<DryRun> dry_run(const Context& context, const model::PilotSpec& spec);

}  // namespace pilot::core
