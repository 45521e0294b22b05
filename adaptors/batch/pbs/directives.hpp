// The #PBS lines of a job script, and the options of the spec that become some of them.
#pragma once

#include <string>
#include <vector>

#include "adaptors/batch/host/job_script.hpp"

namespace pilot::adaptors::pbs {

std::vector<plugin::OptionDoc> directive_options();

// Errors: usage, naming the option.
Result<void> check_directives(const model::PilotSpec& spec);

std::vector<host::Directive> directives_of(const plugin::AllocationRequest& request);

// By it a job is found again whose id got lost: "pilot-demo-0123ab-a0".
std::string job_name(const plugin::AllocationRequest& request);

}  // namespace pilot::adaptors::pbs
