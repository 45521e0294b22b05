// A batch system as text in, text out: what is written for it, which of its tools are called, and what
// their answers mean.  A dialect runs nothing and reads no clock, file or environment; BatchHost runs any
// dialect.  Answers come as proc::CommandResult, so that an error can repeat the tool's own words.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adaptors/batch/host/job_script.hpp"
#include "pilot/plugin/batch_adaptor.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::adaptors::host {

// How a job ended.
enum class ExitCause {
  none,  // it has not, or nobody says
  completed,
  failed,
  time_limit,
  node_failure,
  out_of_memory,
  preempted,
  cancelled,
};

std::string_view to_string(ExitCause cause);

// What the system says about one job.
struct JobStatus {
  std::string job_id;
  model::AllocationPhase phase = model::AllocationPhase::unknown;
  std::string
      reason;  // the system's words, and ours where they need it: "PENDING, Resources: waits for nodes"
  ExitCause cause = ExitCause::none;
  bool can_never_run = false;         // it waits for what will not come
  bool settled = true;                // while it waits: the system has said why
  bool ending = false;                // it still counts as running, but starts nothing any more
  std::optional<WallTime> starts_at;  // expected, while it waits
  std::optional<WallTime> ends_at;
  std::string hosts;  // of the nodes it holds, as the system lists them
  bool operator==(const JobStatus&) const = default;
};

// Where a system makes running jobs bigger: another job asks for the nodes and hands them over.
class GrowthDialect {
 public:
  virtual ~GrowthDialect() = default;

  // What tells whether jobs may grow here; the answer's errors: usage, with the reason.
  virtual model::Command ask_for_permission() const = 0;
  virtual Result<void> permitted(const proc::CommandResult& answer) const = 0;

  // Asks for a job whose nodes are for `request.joins_job`, for as long as that has `left`; its nodes `held`
  // (as the system lists them) are no use.  May stay in the foreground until it has them.
  virtual model::Command ask(const plugin::AllocationRequest& request, const std::string& held,
                             std::optional<Duration> left) const = 0;
  virtual std::string_view said()
      const = 0;  // by ask(), when the system has the job: a basic regular expression
  virtual Result<std::string> asked(const proc::CommandResult& answer) const = 0;  // the job's id

  // Hands all nodes of a job over; it ends.
  virtual model::Command hand_over(const std::string& job_id) const = 0;
  virtual Result<void> handed_over(const proc::CommandResult& answer) const = 0;
};

class BatchDialect {
 public:
  virtual ~BatchDialect() = default;

  virtual std::string_view name() const = 0;     // "slurm", as in `--resource slurm`
  virtual std::string_view system() const = 0;   // "Slurm", as in sentences
  virtual std::string_view summary() const = 0;  // one line for help
  virtual std::vector<plugin::OptionDoc> options() const = 0;

  // The job that a process with this environment is in; empty: none.  `variable` gives an environment
  // variable's value, empty if it is not set.
  using Variables = std::function<std::string(const std::string&)>;
  virtual std::string current_job(const Variables& variable) const = 0;

  // Refuses what the system would misunderstand or accept in vain.  Errors: usage, naming the option.
  virtual Result<void> check(const model::PilotSpec& spec) const = 0;

  // The parts of the job script that are this system's own.  Within a job that runs already the
  // directives mean nothing, and the agents must leave room for the job's other steps.
  virtual JobScript script(const plugin::AllocationRequest& request) const = 0;

  // What there is: questions whose answers fits() reads.
  virtual std::vector<model::Command> ask_for_sizes() const = 0;
  // Refuses what could never run there, with the numbers; systems accept it and let it wait for ever.  What
  // the answers do not say is no reason.  Errors: usage.
  virtual Result<void> fits(const plugin::AllocationRequest& request,
                            const std::vector<proc::CommandResult>& answers) const = 0;

  // Has the system judge a script without running it; no words: it can't.  The answer is its judgement.
  virtual model::Command judge(const plugin::AllocationRequest& request,
                               const std::filesystem::path& script) const = 0;
  virtual Result<std::string> judged(const proc::CommandResult& answer) const = 0;

  // Each pair is a command and the meaning of its answer.  Errors of all: usage (refused for good),
  // unavailable (try again), failed; with the tool's words and a hint.

  virtual model::Command submit(const plugin::AllocationRequest& request,
                                const std::filesystem::path& script) const = 0;
  virtual Result<std::string> submitted(const proc::CommandResult& answer) const = 0;  // the job's id

  // Looks for a job of this request that was submitted though the answer was lost: ids, oldest first.
  virtual model::Command find(const plugin::AllocationRequest& request) const = 0;
  virtual Result<std::vector<std::string>> found(const plugin::AllocationRequest& request,
                                                 const proc::CommandResult& answer) const = 0;

  // All jobs in one call.  The answer has those that the system knows now.
  virtual model::Command poll(const std::vector<std::string>& job_ids) const = 0;
  virtual Result<std::vector<JobStatus>> polled(const proc::CommandResult& answer) const = 0;

  // Jobs that poll() does not know any more.  Error not_found: this system keeps no history.
  virtual model::Command history(const std::vector<std::string>& job_ids) const = 0;
  virtual Result<std::vector<JobStatus>> remembered(const proc::CommandResult& answer) const = 0;

  // Ends a job.  One that has ended, or that the system does not know, is success.
  virtual model::Command cancel(const std::string& job_id) const = 0;
  virtual Result<void> cancelled(const proc::CommandResult& answer) const = 0;

  // What tells whether jobs can give nodes back a second time; no words: they always can.  The answer's
  // errors: usage, with the reason.
  virtual model::Command ask_for_limits() const = 0;
  virtual Result<void> may_release_again(const proc::CommandResult& answer) const = 0;

  // Gives nodes of a running job back: it keeps `kept`, which has the first node, and loses `dropped`.
  virtual model::Command release(const std::string& job_id, const std::vector<std::string>& kept,
                                 const std::vector<std::string>& dropped) const = 0;
  virtual Result<void> released(const proc::CommandResult& answer) const = 0;

  // How jobs are made bigger; null: not at all.
  virtual const GrowthDialect* growth() const { return nullptr; }

  // Runs `argv` on one node of a running job, from any node or from the login node; may last as long as it.
  virtual model::Command run_on(const std::string& job_id, const std::string& node,
                                const std::vector<std::string>& argv) const = 0;
};

}  // namespace pilot::adaptors::host
