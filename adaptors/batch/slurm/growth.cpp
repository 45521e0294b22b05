#include "adaptors/batch/slurm/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adaptors/batch/slurm/complaints.hpp"
#include "adaptors/batch/slurm/directives.hpp"

namespace pilot::adaptors::slurm {
namespace {

// Those that are a script's alone, or that would tell of a job that is none.
constexpr std::array not_for_salloc{"time",   "no-requeue", "signal",    "export",
                                    "output", "open-mode",  "mail-user", "mail-type"};

// Within a job scontrol would leave scripts in the current folder.
model::Command outside_of_jobs(std::vector<std::string> argv) {
  model::Command command;
  command.argv = {"env", "-u", "SLURM_JOB_ID", "-u", "SLURM_JOBID"};
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.env = {{"LC_ALL", "C"}};
  command.directory = "/";
  return command;
}

}  // namespace

model::Command SlurmGrowth::ask_for_permission() const {
  return outside_of_jobs({"scontrol", "show", "config"});
}

Result<void> SlurmGrowth::permitted(const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("scontrol", answer);
  const std::string_view text = answer.out;
  const auto at = text.find("\nSchedulerParameters ");
  if (at == std::string_view::npos) return ok();  // then salloc says it
  const auto line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  if (line.find("permit_job_expansion") != std::string_view::npos) return ok();
  return make_error(
      ErrorCode::usage,
      fmt::format("this Slurm does not permit it: it has no permit_job_expansion in '{}'", line),
      "without --in-place the nodes come by a job of their own");
}

model::Command SlurmGrowth::ask(const plugin::AllocationRequest& request, const std::string& held,
                                std::optional<Duration> left) const {
  const auto skipped = host::skipped_directives(request.spec);
  const auto settings = settings_of(request);
  model::Command command = outside_of_jobs({});
  for (const Setting& setting : settings)
    command.argv.insert(command.argv.end(), {"-u", overruling_variable("SALLOC", setting.name)});
  command.argv.insert(command.argv.end(),
                      {"salloc", "--no-shell", "--dependency=expand:" + request.joins_job});
  if (!held.empty()) command.argv.push_back("--exclude=" + held);
  if (left)
    command.argv.push_back(fmt::format(
        "--time={}", std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::minutes>(*left).count())));
  for (const Setting& setting : settings) {
    const auto is_it = [&](const auto& name) { return name == setting.name; };
    if (std::ranges::any_of(not_for_salloc, is_it) || std::ranges::any_of(skipped, is_it)) continue;
    command.argv.push_back("--" + setting.name + (setting.value.empty() ? "" : "=" + setting.value));
  }
  for (const std::string& word : host::extra_words(request.spec, "#SBATCH")) command.argv.push_back(word);
  return command;
}

// "salloc: Pending job allocation 12", "salloc: Granted job allocation 12"
Result<std::string> SlurmGrowth::asked(const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("salloc", answer);
  constexpr std::string_view words = "job allocation ";
  const std::string text = answer.out + answer.err;
  const auto at = text.find(words);
  const auto begin = at == std::string::npos ? text.size() : at + words.size();
  const std::string id = text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
  if (!id.empty()) return id;
  return make_error(ErrorCode::failed, fmt::format("salloc printed no job id but '{}'", text));
}

model::Command SlurmGrowth::hand_over(const std::string& job_id) const {
  return outside_of_jobs({"scontrol", "update", "JobId=" + job_id, "NumNodes=0"});
}

Result<void> SlurmGrowth::handed_over(const proc::CommandResult& answer) const {
  return answer.succeeded() ? ok() : Result<void>(complaint("scontrol", answer));
}

}  // namespace pilot::adaptors::slurm
