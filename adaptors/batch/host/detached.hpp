// Starting a command that outlives its caller.
#pragma once

#include <filesystem>
#include <string_view>

#include "pilot/base/clock.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::adaptors::host {

// A command that starts the given one in a session of its own, its output appended to a file, and watches it
// for a moment: it exits with the code of the other if that ends meanwhile, else with 0.
model::Command detached(const model::Command& command, const std::filesystem::path& output, Duration watch);

// The same for one that may stay long: watched until it has said `word` (a basic regular expression of grep),
// or has ended.  What it has said is the output.
model::Command detached_until(const model::Command& command, const std::filesystem::path& output,
                              std::string_view word);

}  // namespace pilot::adaptors::host
