// Stopping a pilot and making sure that nothing of it is left.
#pragma once

#include <string>
#include <vector>

#include "pilot/core/running_pilot.hpp"

namespace pilot::core {

struct StopOptions {
  bool force = false;  // archive even what can't be reached or verified
};

struct StopReport {
  model::PilotState state;  // as it was when it had stopped
  bool by_head = false;     // its head agent did it; otherwise this command
  int leftovers_ended = 0;  // processes that had to be ended afterwards
  std::string note;         // "the machine was rebooted": nothing was left to stop
  std::string left;         // what this command could not reach; empty: nothing
};

// Ends the services in the plan's order through the head agent (started again if it is dead), or, where no
// head can be had, itself; verifies by identity that every process it ever started is gone; removes what it
// made outside its folder; archives the folder.  Repeating it is safe.
// Errors: not_found; unavailable (another machine's); partial, naming what is left.
Result<StopReport> stop_pilot(const Context& context, const std::string& name, const StopOptions& options);

}  // namespace pilot::core
