// A job is ended.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "adaptors/batch/host/batch_host.hpp"
#include "pilot/base/units.hpp"

namespace pilot::adaptors::host {

using model::AllocationPhase;
using plugin::AllocationRequest;

// Waits for a job whose agents were released and whose script is about to end.  PBS would hold it up, if it
// were told to end just then, for all the time that it gives processes between TERM and KILL.
void BatchHost::let_it_end(const AllocationRequest& request, const std::string& job_id) const {
  if (!std::filesystem::exists(nodes_file(request))) return;  // it never began
  const Deadline script(*clock_, timing_.leave_job), job(*clock_, timing_.leave);
  while (!read_exit_record(request, job_id)) {
    if (script.passed()) return;
    std::this_thread::sleep_for(timing_.leave_look);
  }
  for (; !job.passed(); std::this_thread::sleep_for(timing_.cancel_look))
    if (const auto status = ask_one(job_id);
        status.has_error() || status.value().phase == AllocationPhase::ended)
      return;
}

// Who submitted it was killed before it could say so.
Result<void> BatchHost::cancel_found(const AllocationRequest& request) {
  const auto jobs = insist<std::vector<std::string>>([&] { return find(request); });
  if (jobs.has_error())
    return jobs.error().while_doing(fmt::format("looking for jobs of {}", request.allocation));
  for (const std::string& job : jobs.value()) PILOT_TRY_VOID(cancel(request, job));
  return ok();
}

Result<void> BatchHost::cancel(const AllocationRequest& request, const std::string& job_id) {
  if (job_id.empty()) return cancel_found(request);
  const auto doing = fmt::format("cancelling job {} of {}", job_id, dialect_->name());
  let_it_end(request, job_id);
  const auto cancelled = insist<void>([&] { return cancel_job(job_id); });
  if (cancelled.has_error()) return cancelled.error().while_doing(doing);
  const Deadline deadline(*clock_, timing_.cancel), ending(*clock_, timing_.ending);
  for (Duration pause = timing_.cancel_look;; pause = std::min(2 * pause, timing_.longest_cancel_look)) {
    const auto status = insist<JobStatus>([&] { return ask_one(job_id); });
    const bool gone = status.has_value() ? status.value().phase == AllocationPhase::ended
                                         : status.error().code == ErrorCode::not_found;
    // Nothing of ours runs in it any more; a node that does not answer may hold it up for minutes.
    const bool going = status.has_value() && status.value().ending && ending.passed();
    if (gone || going) return remember(request, job_id, status);
    if (status.has_error()) return status.error().while_doing(doing);
    if (deadline.passed())
      return make_error(ErrorCode::timed_out,
                        fmt::format("{}: it was accepted, but after {} the job is still {}", doing,
                                    format_duration(timing_.cancel), status.value().reason),
                        "repeat the command later");
    std::this_thread::sleep_for(std::min(pause, deadline.left()));
  }
}

}  // namespace pilot::adaptors::host
