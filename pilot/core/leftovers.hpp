// The processes of a pilot, found by the identities in its log and by the marks in their environment.
#pragma once

#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::core {

// All that live on this machine now.
std::vector<model::ProcessIdentity> living_processes(const model::PilotState& state);

// Kills its agents, so that they don't start again what is stopped next.
void end_agents_directly(const model::PilotState& state);

// Ends services by their stop policies, the last stage first; what does not end in its grace is killed
// with its group.  For a pilot whose agents can't be had back.
void stop_services_directly(const Clock& clock, const model::PilotState& state);

struct EndedLeftovers {
  int ended = 0;
  std::vector<model::ProcessIdentity> left;  // could not be ended
};

// Gives what still lives `patience` to end by itself (agents do when a pilot has stopped), then SIGTERM,
// then SIGKILL.
EndedLeftovers end_leftovers(const Clock& clock, const model::PilotState& state, Duration patience);

}  // namespace pilot::core
