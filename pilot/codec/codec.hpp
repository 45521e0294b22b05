// Model values as JSON text and back.  Field names are snake_case and frozen by tests; times are
// ISO-8601 UTC with nanoseconds kept as "at_ns" where order matters; durations are seconds.
#pragma once

#include <string>
#include <string_view>

#include "pilot/base/result.hpp"
#include "pilot/model/event.hpp"
#include "pilot/model/message.hpp"
#include "pilot/model/pilot_spec.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::codec {

// One line each.  Decoding refuses missing fields and wrong types, names the field, and ignores fields
// it does not know (a newer program's log stays readable).  Errors: failed.
std::string encode(const model::Event& event);
std::string encode(const model::Message& message);  // the envelope
std::string encode(const model::PilotSpec& spec);
std::string encode(const model::PilotState& state);
std::string encode(const model::ServiceSpec& service);
std::string encode(const model::ClusterPlan& plan);

Result<model::Event> decode_event(std::string_view text);
Result<model::Message> decode_message(std::string_view text);  // also: unavailable, for another version
Result<model::PilotSpec> decode_spec(std::string_view text);
Result<model::PilotState> decode_state(std::string_view text);
Result<model::ServiceSpec> decode_service(std::string_view text);
Result<model::ClusterPlan> decode_plan(std::string_view text);

}  // namespace pilot::codec
