// What all commands share: the flags that every one has, the adaptors, the clock.
#pragma once

#include <string>
#include <vector>

#include "pilot/cli/command.hpp"
#include "pilot/cli/progress.hpp"
#include "pilot/core/running_pilot.hpp"
#include "pilot/plugin/registry.hpp"

namespace pilot::cli {

struct Session {
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  std::string colour = "auto";
  std::string progress = "auto";

  plugin::Registry registry;
  const Clock* clock = &system_clock();

  std::vector<Option> options();  // the flags above
  core::Context context(core::Observer& observer) { return {&registry, clock, &observer}; }
  bool colour_on_stdout() const;
  Progress make_progress() const;
};

// The pilot that is meant: the one that was named, or the only one there is.  Errors: usage (several),
// not_found.
Result<std::string> pilot_name(const std::string& given);

// An argument for it.
Argument pilot_argument(std::string& target, bool required);

// "2m05s"; empty for no time.
std::string age_of(WallTime since, const Clock& clock);

}  // namespace pilot::cli
