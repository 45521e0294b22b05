#include "pilot/plugin/allocation_request.hpp"

namespace pilot::plugin {

AllocationRequest request_for(const model::PilotState& state, const std::string& allocation,
                              const std::filesystem::path& pilot_dir,
                              const std::filesystem::path& agent_program) {
  AllocationRequest request;
  request.pilot_id = state.id;
  request.allocation = allocation;
  request.nodes = state.spec.nodes;
  request.spec = state.spec;
  request.pilot_dir = pilot_dir;
  request.agent_program = agent_program;
  const auto found = state.allocations.find(allocation);
  if (found == state.allocations.end()) return request;
  request.nodes = found->second.nodes;
  request.first_node = found->second.first_node;
  if (const auto base = state.allocations.find(found->second.joins.value_or(""));
      base != state.allocations.end())
    request.joins_job = base->second.job_id;
  if (found->second.walltime) request.spec.walltime = found->second.walltime;
  return request;
}

}  // namespace pilot::plugin
