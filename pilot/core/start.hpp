// Starting a pilot, and waiting for what it becomes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pilot/core/context.hpp"
#include "pilot/core/running_pilot.hpp"

namespace pilot::core {

// Checks everything, makes the pilot's folder, asks for the nodes, and returns when they are asked for.
// `origins` as in check_spec().  Errors: usage (the spec; the name is in use), not_found (software),
// unavailable (the resource), failed (the folder).
Result<RunningPilot> start_pilot(const Context& context, const model::PilotSpec& spec,
                                 const std::map<std::string, std::string>& origins);

// All that start_pilot() checks before it asks for nodes, and what the batch system says to them; starts
// nothing.  What was checked, in sentences.  Errors: as of start_pilot().
Result<std::vector<std::string>> validate_start(const Context& context, const model::PilotSpec& spec,
                                                const std::map<std::string, std::string>& origins);

enum class Goal { ready, stopped, failed, degraded };

// "ready" ...; Errors: usage, with a suggestion.
Result<Goal> parse_goal(const std::string& word);

// Waits until the pilot is (or was passed beyond) the goal; ready counts when it is ready now.  Errors:
// failed (it failed, with the cause; or ended while something else was waited for), timed_out,
// unavailable (its agents are gone), usage never.  Interrupted: returns false.  `queue_is_free`: the timeout
// begins when the batch system has given the nodes.
Result<bool> wait_for(const Context& context, RunningPilot& pilot, Goal goal, std::optional<Duration> timeout,
                      bool queue_is_free = false);

}  // namespace pilot::core
