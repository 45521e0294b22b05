#include "adaptors/batch/slurm/job_states.hpp"

#include <fmt/format.h>

#include <array>

namespace pilot::adaptors::slurm {
namespace {

using host::ExitCause;
using model::AllocationPhase;

struct State {
  std::string_view word;
  AllocationPhase phase;
  ExitCause cause = ExitCause::none;
  bool ending = false;
};

// squeue(1), JOB STATE CODES.  COMPLETING is not yet an end: a requeued job goes through it as well.
constexpr std::array states{
    State{"PENDING", AllocationPhase::pending},
    State{"CONFIGURING", AllocationPhase::pending},
    State{"REQUEUED", AllocationPhase::pending},
    State{"REQUEUE_FED", AllocationPhase::pending},
    State{"REQUEUE_HOLD", AllocationPhase::pending},
    State{"RESV_DEL_HOLD", AllocationPhase::pending},
    State{"SPECIAL_EXIT", AllocationPhase::pending},
    State{"RUNNING", AllocationPhase::running},
    State{"RESIZING", AllocationPhase::running},
    State{"SIGNALING", AllocationPhase::running},
    State{"SUSPENDED", AllocationPhase::suspended},
    State{"STOPPED", AllocationPhase::suspended},
    State{"COMPLETING", AllocationPhase::running, ExitCause::none, true},
    State{"STAGE_OUT", AllocationPhase::running, ExitCause::none, true},
    State{"COMPLETED", AllocationPhase::ended, ExitCause::completed},
    State{"CANCELLED", AllocationPhase::ended, ExitCause::cancelled},
    State{"REVOKED", AllocationPhase::ended, ExitCause::cancelled},
    State{"FAILED", AllocationPhase::ended, ExitCause::failed},
    State{"TIMEOUT", AllocationPhase::ended, ExitCause::time_limit},
    State{"DEADLINE", AllocationPhase::ended, ExitCause::time_limit},
    State{"NODE_FAIL", AllocationPhase::ended, ExitCause::node_failure},
    State{"BOOT_FAIL", AllocationPhase::ended, ExitCause::node_failure},
    State{"OUT_OF_MEMORY", AllocationPhase::ended, ExitCause::out_of_memory},
    State{"PREEMPTED", AllocationPhase::ended, ExitCause::preempted},
};

struct Reason {
  std::string_view word;
  std::string_view meaning;
  bool never = false;
};

// squeue(1), JOB REASON CODES; those that say something to a user.  `never`: as the job was asked for and
// the cluster is configured now.
constexpr std::array reasons{
    Reason{"Resources", "waits for nodes to become free"},
    Reason{"Priority", "jobs with a higher priority come first"},
    Reason{"Dependency", "waits for another job"},
    Reason{"DependencyNeverSatisfied", "the job it depends on has failed", true},
    Reason{"BeginTime", "its begin time has not come; after a requeue that takes two minutes"},
    Reason{"JobHeldUser", "held; 'scontrol release' lets it go"},
    Reason{"JobHeldAdmin", "held by an administrator"},
    Reason{"PartitionDown", "the partition starts no jobs now"},
    Reason{"PartitionInactive", "the partition takes no jobs now"},
    Reason{"PartitionConfig", "more than the partition has or allows", true},
    Reason{"PartitionNodeLimit", "more nodes than the partition allows", true},
    Reason{"PartitionTimeLimit", "a longer time than the partition allows", true},
    Reason{"BadConstraints", "no nodes have what was asked for", true},
    Reason{"AccountNotAllowed", "the partition is not for this account", true},
    Reason{"QOSNotAllowed", "this quality of service is not allowed here", true},
    Reason{"InvalidAccount", "there is no such account", true},
    Reason{"InvalidQOS", "there is no such quality of service", true},
    Reason{"QOSMaxWallDurationPerJobLimit", "a longer time than the quality of service allows", true},
    Reason{"QOSMaxNodePerJobLimit", "more nodes than the quality of service allows", true},
    Reason{"QOSMaxCpuPerJobLimit", "more cores than the quality of service allows", true},
    Reason{"AssocMaxWallDurationPerJobLimit", "a longer time than the account allows", true},
    Reason{"AssocMaxNodePerJobLimit", "more nodes than the account allows", true},
    Reason{"AssocMaxCpuPerJobLimit", "more cores than the account allows", true},
    Reason{"ReqNodeNotAvail", "nodes that it needs are down, drained or reserved"},
    Reason{"Reservation", "waits for its reservation"},
    Reason{"Licenses", "waits for licenses"},
    Reason{"NodeDown", "a node went down"},
    Reason{"TimeLimit", "its time is over"},
    Reason{"NonZeroExitCode", "its script failed"},
    Reason{"JobLaunchFailure", "killed by a signal, or its output could not be opened"},
    Reason{"OutOfMemory", "more memory than was asked for"},
};

const State* find_state(std::string_view word) {
  for (const State& state : states)
    if (state.word == word) return &state;
  return nullptr;
}

// squeue writes "ReqNodeNotAvail, UnavailableNodes:node04" and "Nodes required for job are DOWN, ...".
const Reason* find_reason(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" ,:("));
  for (const Reason& reason : reasons)
    if (reason.word == word) return &reason;
  return nullptr;
}

std::string_view meaning_of(std::string_view text) {
  if (const Reason* reason = find_reason(text)) return reason->meaning;
  if (text.starts_with("QOS")) return "a limit of the quality of service is reached";
  if (text.starts_with("Assoc")) return "a limit of the account is reached";
  return {};
}

std::string exit_words(std::string_view exit_code) {
  const auto colon = exit_code.find(':');
  if (colon == std::string_view::npos || exit_code == "0:0") return {};
  const std::string_view signal = exit_code.substr(colon + 1);
  return signal == "0" ? fmt::format(", exit code {}", exit_code.substr(0, colon))
                       : fmt::format(", signal {}", signal);
}

}  // namespace

void describe(host::JobStatus& status, std::string_view state, std::string_view reason,
              std::string_view exit_code) {
  const State* known = find_state(state.substr(0, state.find(' ')));  // "CANCELLED by 1001"
  if (known != nullptr) {
    status.phase = known->phase;
    status.cause = known->cause;
    status.ending = known->ending;
  }
  status.reason = state;
  status.settled = !reason.empty() && reason != "None" && reason != "(null)";
  if (status.settled) {
    status.reason += fmt::format(", {}", reason);
    // A cancelled job keeps the reason for which it once waited.
    if (const auto meaning = meaning_of(reason); !meaning.empty() && status.cause != ExitCause::cancelled)
      status.reason += fmt::format(": {}", meaning);
  }
  status.reason += exit_words(exit_code);
  const Reason* known_reason = find_reason(reason);
  status.can_never_run =
      status.phase == AllocationPhase::pending && known_reason != nullptr && known_reason->never;
}

}  // namespace pilot::adaptors::slurm
