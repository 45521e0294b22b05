// A head agent for a pilot whose own is lost with its node.
#pragma once

#include <string>

#include "pilot/core/running_pilot.hpp"

namespace pilot::core {

struct Recovery {
  bool was_needed = false;  // false: the head agent answered at once
  std::string node;         // which keeps the head now
  int start = 0;            // its number: 1 is the first head of the pilot
};

// Waits until a node of the pilot has taken the head's place, which they do by themselves in some 15 s, and
// starts their agents again if none does.  Services go on meanwhile.  Errors: failed (the pilot has ended),
// unavailable (no node can; the reasons), timed_out.
Result<Recovery> recover_pilot(const Context& context, RunningPilot& pilot, Duration timeout);

}  // namespace pilot::core
