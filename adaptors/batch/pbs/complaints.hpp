// What the error messages of the PBS tools mean for one who called them.
#pragma once

#include <string>

#include "pilot/base/error.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::adaptors::pbs {

// The tool's words, with a code (unavailable: try again; usage: refused for good) and a hint.
Error complaint(const std::string& tool, const proc::CommandResult& answer);

// PBS answers and does not know the job (any more).
bool is_unknown_job(const proc::CommandResult& answer);

}  // namespace pilot::adaptors::pbs
