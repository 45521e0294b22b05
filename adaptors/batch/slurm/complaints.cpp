#include "adaptors/batch/slurm/complaints.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace pilot::adaptors::slurm {
namespace {

struct Complaint {
  std::string_view words;
  ErrorCode code;
  std::string_view hint;
};

// The first that fits counts.
constexpr std::string_view what_there_is = "'sinfo -o \"%P %l %D %c %m %f\"' shows partitions, limits, nodes";
constexpr std::array complaints{
    Complaint{"Unable to contact slurm controller", ErrorCode::unavailable, "slurmctld does not answer"},
    Complaint{"Socket timed out", ErrorCode::unavailable, "slurmctld is busy or does not answer"},
    Complaint{"temporarily unable", ErrorCode::unavailable, ""},
    Complaint{"backup controller", ErrorCode::unavailable, "slurmctld fails over to its backup"},
    Complaint{"Zero Bytes were transmitted", ErrorCode::unavailable, ""},
    Complaint{"Connection refused", ErrorCode::unavailable, ""},
    Complaint{"DB index is being set", ErrorCode::unavailable, "without slurmdbd a job is resized only once"},
    Complaint{"authentication", ErrorCode::unavailable, "does munge run on this host?"},
    Complaint{"accounting storage is disabled", ErrorCode::not_found, ""},
    Complaint{"Could not establish a configuration source", ErrorCode::failed,
              "this host belongs to no Slurm cluster"},
    Complaint{"Access/permission denied", ErrorCode::failed, "it is somebody else's job"},
    Complaint{"Invalid job id", ErrorCode::not_found, ""},
    Complaint{
        "Requested operation not supported", ErrorCode::usage,
        "this Slurm does not permit jobs to grow; without --in-place the nodes come by a job of their own"},
    Complaint{
        "Job dependency problem", ErrorCode::usage,
        "a job can be grown only in its own partition and QOS; without --in-place the nodes come by a job of "
        "their own"},
    Complaint{
        "Unspecified error for job", ErrorCode::failed,
        "Slurm makes no job bigger that has generic resources (GPUs); without --in-place the nodes come by a "
        "job of their own"},
    Complaint{"allocation failure", ErrorCode::usage, what_there_is},
    Complaint{"partition", ErrorCode::usage, "'sinfo' lists partitions"},
    Complaint{"account", ErrorCode::usage, "'sacctmgr show associations user=$USER' lists accounts"},
    Complaint{"qos", ErrorCode::usage, "'sacctmgr show qos' lists them"},
    Complaint{"feature", ErrorCode::usage, what_there_is},
    Complaint{"node configuration is not available", ErrorCode::usage, what_there_is},
    Complaint{"can not be satisfied", ErrorCode::usage, what_there_is},
    Complaint{"time limit", ErrorCode::usage, what_there_is},
    Complaint{"Invalid node name", ErrorCode::usage, what_there_is},
    Complaint{"generic resource", ErrorCode::usage, "'sinfo -o %G' lists generic resources"},
    Complaint{"reservation", ErrorCode::usage, "'scontrol show reservation' lists reservations"},
    Complaint{"unrecognized option", ErrorCode::usage, "a line under 'batch.extra'?"},
    Complaint{"Invalid directive", ErrorCode::usage, "a line under 'batch.extra'?"},
    Complaint{"Invalid --", ErrorCode::usage, ""},
};

bool contains(std::string_view text, std::string_view words) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t at = 0; at + words.size() <= text.size(); ++at) {
    std::size_t same = 0;
    while (same < words.size() && lower(text[at + same]) == lower(words[same])) ++same;
    if (same == words.size()) return true;
  }
  return false;
}

// "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job ..." on one line without the
// tool's name, which stands in front anyway.
std::string without_prefixes(const std::string& tool, std::string_view text) {
  const std::string prefix = tool + ": ";
  std::string words;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    if (line.starts_with("error: ")) line.remove_prefix(7);
    if (line.empty()) continue;
    words.append(words.empty() ? "" : "; ").append(line);
  }
  return words;
}

}  // namespace

Error complaint(const std::string& tool, const proc::CommandResult& answer) {
  proc::CommandResult tidy = answer;
  tidy.err = without_prefixes(tool, answer.err);
  Error error =
      make_error(answer.timed_out ? ErrorCode::unavailable : ErrorCode::failed, tidy.complaint(tool));
  if (answer.timed_out) return error;
  for (const Complaint& known : complaints) {
    if (!contains(answer.err, known.words)) continue;
    error.code = known.code;
    error.hint = known.hint;
    break;
  }
  return error;
}

bool is_unknown_job(const proc::CommandResult& answer) {
  return !answer.timed_out && contains(answer.err, "Invalid job id specified");
}

}  // namespace pilot::adaptors::slurm
