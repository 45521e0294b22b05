// The nodes that a batch system is asked for, or was.
#pragma once

#include <filesystem>
#include <string>

#include "pilot/model/pilot_spec.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::plugin {

struct AllocationRequest {
  std::string pilot_id;
  std::string allocation;  // "a0" is the base, "a1" ... are its extensions
  int nodes = 1;
  int first_node = 1;  // its nodes are called node-FIRST, ...
  model::PilotSpec spec;
  std::filesystem::path pilot_dir;
  std::filesystem::path agent_program;  // pilot-agent
  std::string joins_job;  // the job of the base, whose part its nodes are or become; empty: one of its own
};

// What was asked for when the allocation was submitted; of the base when there is none of this name.
AllocationRequest request_for(const model::PilotState& state, const std::string& allocation,
                              const std::filesystem::path& pilot_dir,
                              const std::filesystem::path& agent_program);

}  // namespace pilot::plugin
