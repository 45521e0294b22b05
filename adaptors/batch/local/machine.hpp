// This machine, divided into nodes.
#pragma once

#include <string>

#include "pilot/base/units.hpp"
#include "pilot/model/pilot_spec.hpp"

namespace pilot::adaptors::local {

struct Machine {
  int cores = 1;  // that this process may use
  Bytes memory;   // of the machine, or of its control group when that is less
};

Machine this_machine();

struct NodeShare {
  int cores = 1;
  Bytes memory;
};

// What the spec says, else the machine divided by the number of nodes (at least one core).
NodeShare share_of(const Machine& machine, const model::PilotSpec& spec);

// $NAME, ${NAME} and a leading ~ as a shell would put them in; a variable that is not set is /tmp for
// TMPDIR and empty otherwise.
std::string expand(const std::string& text);

// Where the pilot's nodes keep their data: (spec.scratch or $TMPDIR or /tmp)/pilot-USER-ID.
std::string scratch_root(const model::PilotSpec& spec, const std::string& pilot_id);

}  // namespace pilot::adaptors::local
