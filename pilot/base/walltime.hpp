// How long a user wants nodes.
#pragma once

#include <string_view>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace pilot {

// As parse_duration(), and sbatch's "1-12" and "1-12:30" (days and hours).  A number alone is refused: Slurm
// takes it for minutes, PBS for seconds.  Errors: usage.
Result<Duration> parse_walltime(std::string_view text);

}  // namespace pilot
