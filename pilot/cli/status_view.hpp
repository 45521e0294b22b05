// The state of a pilot as commands show it: a table for people, JSON (pilot.status/1) for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pilot/base/clock.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::cli {

// `live`: told by the head agent now, not only read from its log.  `note`: why not.
nlohmann::ordered_json status_json(const model::PilotState& state, bool live, const std::string& note);
std::string status_text(const model::PilotState& state, bool live, const std::string& note, bool colour,
                        const Clock& clock);

}  // namespace pilot::cli
