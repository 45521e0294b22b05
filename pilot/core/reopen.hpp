// `pilot start --from`: a stopped pilot whose clusters kept data that a new one can open again.
#pragma once

#include <map>
#include <string>

#include "pilot/base/result.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::core {

// The newest stopped pilot of that name (or "NAME-ID", as its folder below stopped/ is called).
// Errors: not_found, with the nearest name; usage, when it runs still or its data ended with it.
Result<model::PilotState> stopped_pilot(const std::string& name);

// A spec as a document of settings (YAML), so that flags win over it: what the stopped pilot was made of,
// without its name, with as many nodes as hold data.
std::string settings_of(const model::PilotState& stopped);

// Puts what each framework kept into the new pilot's spec.  Errors: usage (a framework that kept nothing, or
// is not of the new spec).
Result<void> reopen_in(model::PilotSpec& spec, const model::PilotState& stopped);

}  // namespace pilot::core
