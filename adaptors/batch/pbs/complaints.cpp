#include "adaptors/batch/pbs/complaints.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace pilot::adaptors::pbs {
namespace {

struct Complaint {
  std::string_view words;
  ErrorCode code;
  std::string_view hint;
};

// The first that fits counts.
constexpr std::array complaints{
    Complaint{"Connection refused", ErrorCode::unavailable, "pbs_server does not answer"},
    Complaint{"cannot connect to server", ErrorCode::unavailable, "pbs_server does not answer"},
    Complaint{"Couldn't connect", ErrorCode::unavailable, "pbs_server does not answer"},
    Complaint{"No route to host", ErrorCode::unavailable, "the host of pbs_server can't be reached"},
    Complaint{"Request invalid for state of job", ErrorCode::unavailable,
              "PBS does that neither in a job's first seconds nor while it ends"},
    Complaint{"primary execution host", ErrorCode::usage, "a job can't give its first node back"},
    Complaint{"history", ErrorCode::not_found, ""},
    Complaint{"Unknown Job Id", ErrorCode::not_found, ""},
    Complaint{"Job has finished", ErrorCode::not_found, ""},
    Complaint{"Unknown queue", ErrorCode::usage, "'qstat -Q' lists queues"},
    Complaint{"Queue is not enabled", ErrorCode::usage, "'qstat -Q' lists queues that take jobs"},
    Complaint{"violates queue", ErrorCode::usage, "'qstat -Qf' shows the limits of queues"},
    Complaint{"Unknown resource", ErrorCode::usage, "under 'batch.chunk' or 'batch.extra'?"},
    Complaint{"Illegal attribute", ErrorCode::usage, "under 'batch.chunk' or 'batch.extra'?"},
    Complaint{"invalid option", ErrorCode::usage, "a line under 'batch.extra'?"},
    Complaint{"illegal -", ErrorCode::usage, ""},
    Complaint{"Bad UID", ErrorCode::failed, "this user may not submit jobs; root usually may not"},
    Complaint{"Unauthorized", ErrorCode::failed, "it is somebody else's job"},
    Complaint{"is not a node in job", ErrorCode::not_found, ""},
};

// The first line without the tool's name, which stands in front anyway; the usage after it is long.
std::string first_words(const std::string& tool, std::string_view text) {
  const std::string prefix = tool + ": ";
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
  const auto end = line.find_last_not_of(" \t");
  return std::string(line.substr(0, end == std::string_view::npos ? 0 : end + 1));
}

}  // namespace

Error complaint(const std::string& tool, const proc::CommandResult& answer) {
  proc::CommandResult tidy = answer;
  tidy.err = first_words(tool, answer.err);
  if (!tidy.err.empty()) tidy.out.clear();
  Error error =
      make_error(answer.timed_out ? ErrorCode::unavailable : ErrorCode::failed, tidy.complaint(tool));
  if (answer.timed_out) return error;
  for (const Complaint& known : complaints) {
    if (answer.err.find(known.words) == std::string::npos) continue;
    error.code = known.code;
    error.hint = known.hint;
    break;
  }
  return error;
}

bool is_unknown_job(const proc::CommandResult& answer) {
  return !answer.timed_out && (answer.err.find("Unknown Job Id") != std::string::npos ||
                               answer.err.find("Job has finished") != std::string::npos);
}

}  // namespace pilot::adaptors::pbs
