// Who keeps the head agent running when the node that did is gone.  Every node agent works it out by
// itself from the event log, so nobody has to be asked.
#pragma once

#include <optional>
#include <string>

#include "pilot/model/pilot_state.hpp"

namespace pilot::agent {

struct SuccessionTiming {
  Duration first_head = std::chrono::minutes(1);  // before the first one has started: the silence to wait for
  Duration head_lost = std::chrono::seconds(15);  // later
  Duration stagger = std::chrono::seconds(5);     // longer for each node that comes first
};

// How many nodes come before `node` in line for the head that `keeper` (may be empty) kept last: nodes that
// are up before those that are not, then by number, the base first.  None: it is not in line, since it was
// released or is being given back, or keeps the head itself.
std::optional<int> place_in_line(const model::PilotState& state, const std::string& keeper,
                                 const std::string& node);

// The silence of the head after which `node` takes its place; none: never.
std::optional<Duration> patience_of(const model::PilotState& state, const std::string& keeper,
                                    const std::string& node, const SuccessionTiming& timing);

}  // namespace pilot::agent
