// The state of a pilot as commands show it: a table for people, JSON (pilot.status/1) for programs.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pilot/base/clock.hpp"
#include "pilot/model/message.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::cli {

// `live`: told by the head agent now, not only read from its log.  `note`: why not.
// `departures`: when extensions leave by themselves, as the head says.
using Departures = std::map<std::string, model::Departure>;
nlohmann::ordered_json status_json(const model::PilotState& state, bool live, const std::string& note,
                                   const Departures& departures = {});
std::string status_text(const model::PilotState& state, bool live, const std::string& note, bool colour,
                        const Clock& clock, const Departures& departures = {});

}  // namespace pilot::cli
