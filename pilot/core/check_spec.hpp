// Everything that can be known to be wrong with a spec before anything is started.
#pragma once

#include <map>
#include <string>

#include "pilot/base/result.hpp"
#include "pilot/core/context.hpp"
#include "pilot/model/pilot_spec.hpp"

namespace pilot::core {

// `origins` says where a setting was written ("frameworks.kafka.controllers" -> "spec.yaml:7:5"), for the
// messages.  Errors: usage.
Result<void> check_spec(const plugin::Registry& registry, const model::PilotSpec& spec,
                        const std::map<std::string, std::string>& origins);

}  // namespace pilot::core
