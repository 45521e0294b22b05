// Slurm's words for the states of jobs and the reasons for them, and what they mean.
#pragma once

#include <string>
#include <string_view>

#include "adaptors/batch/host/batch_dialect.hpp"

namespace pilot::adaptors::slurm {

// Fills in phase, cause, ending, can_never_run and reason.  `state`: "PENDING", "CANCELLED by 1001";
// `reason`: "Resources", "None"; `exit_code`: "3:0" (code:signal), or empty.
void describe(host::JobStatus& status, std::string_view state, std::string_view reason,
              std::string_view exit_code = {});

}  // namespace pilot::adaptors::slurm
