// The #SBATCH lines of a job script, and the options of the spec that become some of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adaptors/batch/host/job_script.hpp"

namespace pilot::adaptors::slurm {

std::vector<plugin::OptionDoc> directive_options();

// Errors: usage, naming the option.
Result<void> check_directives(const model::PilotSpec& spec);

// What sbatch and salloc are told: `name` without dashes, and the value, which may be empty.
struct Setting {
  std::string name, value;
};
std::vector<Setting> settings_of(const plugin::AllocationRequest& request);
// The variable by which a user's environment would overrule one, for the tool SBATCH or SALLOC: sbatch(1),
// INPUT ENVIRONMENT VARIABLES.
std::string overruling_variable(const std::string& tool, const std::string& setting);

// The settings as lines of a script.
std::vector<host::Directive> directives_of(const plugin::AllocationRequest& request);

// By these two a job is found again whose id got lost.
std::string job_name(const plugin::AllocationRequest& request);
std::string comment(const plugin::AllocationRequest& request);

// One word of an #SBATCH line that means exactly these characters to sbatch.
std::string sbatch_word(std::string_view text);

}  // namespace pilot::adaptors::slurm
