// A running job gets nodes: another one asks for them, and hands them over as soon as it has them.
#include <fmt/format.h>

#include <algorithm>

#include "adaptors/batch/host/batch_host.hpp"
#include "adaptors/batch/host/detached.hpp"
#include "pilot/base/file.hpp"
#include "pilot/model/host_list.hpp"

namespace pilot::adaptors::host {
namespace {

using model::AllocationPhase;
using plugin::AllocationRequest;
using plugin::AllocationStatus;

constexpr const char* otherwise = "without --in-place the nodes come by a job of their own";

std::string growing(const AllocationRequest& request) {
  return fmt::format("making job {} bigger", request.joins_job);
}

// Those that the asking job has and the other one had not.
Result<std::vector<std::string>> gained(const JobStatus& asked, const JobStatus& base) {
  PILOT_TRY(auto nodes, model::expand_hosts(asked.hosts));
  std::erase_if(nodes, [&](const std::string& node) { return holds(base, node); });
  return nodes;
}

// It was handed over before, whatever became of whoever did it.
bool has_grown(const AllocationRequest& request, const JobStatus& base) {
  const auto nodes = nodes_of(request);
  return nodes.has_value() && !nodes.value().empty() && !base.hosts.empty() &&
         std::ranges::all_of(nodes.value(), [&](const auto& node) { return holds(base, node); });
}

}  // namespace

Result<void> BatchHost::can_grow(const AllocationRequest& request) {
  const GrowthDialect* growth = dialect_->growth();
  if (growth == nullptr)
    return make_error(ErrorCode::usage, fmt::format("{} can't make a running job bigger", dialect_->system()),
                      otherwise);
  const auto permitted = insist<void>([&]() -> Result<void> {
    PILOT_TRY(const auto answer, call(growth->ask_for_permission()));
    return growth->permitted(answer);
  });
  return permitted.has_value() ? ok() : Result<void>(permitted.error().while_doing(growing(request)));
}

Result<std::string> BatchHost::ask_to_grow_once(const AllocationRequest& request, bool again) const {
  if (again) {
    PILOT_TRY(const auto ids, find(request));
    if (!ids.empty()) return ids.back();
  }
  PILOT_TRY(const JobStatus base, ask_one(request.joins_job));
  if (base.phase != AllocationPhase::running || base.ending)
    return make_error(ErrorCode::failed, fmt::format("it does not run: {}", base.reason));
  std::optional<Duration> left;
  if (base.ends_at) left = *base.ends_at - clock_->wall();
  const auto& growth = *dialect_->growth();
  PILOT_TRY(const auto answer,
            call(detached_until(growth.ask(request, base.hosts, left), output_file(request), growth.said())));
  return growth.asked(answer);
}

Result<std::string> BatchHost::ask_to_grow(const AllocationRequest& request) {
  if (dialect_->growth() == nullptr) return can_grow(request).error();
  PILOT_TRY_VOID(write_script(request));
  PILOT_TRY_VOID(remove_tree(nodes_file(request)));
  if (const auto fits = refuse_what_never_fits(request); fits.has_error())
    return fits.error().while_doing(growing(request));
  bool again = false;
  const auto job = insist<std::string>([&] { return ask_to_grow_once(request, std::exchange(again, true)); });
  if (job.has_error()) return job.error().while_doing(growing(request));
  if (const auto fine = refuse_what_never_runs(job.value()); fine.has_error())
    return fine.error().while_doing(growing(request));
  return job.value();
}

// The nodes are written down before they are handed over: from then on that file says what the other job must
// hold, whoever looks.
Result<void> BatchHost::take_over(const AllocationRequest& request, const JobStatus& base,
                                  const std::string& asked) const {
  PILOT_TRY(const JobStatus job, ask_one(asked));
  PILOT_TRY(const auto nodes, gained(job, base));
  if (nodes.size() != static_cast<std::size_t>(request.nodes))
    return make_error(ErrorCode::failed,
                      fmt::format("job {} got {} for {} nodes", asked, job.hosts, request.nodes));
  PILOT_TRY_VOID(write_file(nodes_file(request), fmt::format("{}\n", fmt::join(nodes, "\n"))));
  const auto& growth = *dialect_->growth();
  PILOT_TRY(const auto handed, call(growth.hand_over(asked)));
  PILOT_TRY_VOID(growth.handed_over(handed));
  PILOT_TRY(const JobStatus bigger, ask_one(request.joins_job));
  if (!has_grown(request, bigger))
    return make_error(ErrorCode::failed,
                      fmt::format("the command succeeded, but job {} does not hold {}: it has {}",
                                  request.joins_job, fmt::join(nodes, ", "), bigger.hosts));
  return ok();
}

Result<AllocationStatus> BatchHost::grow(const AllocationRequest& request, const std::string& asked) {
  if (dialect_->growth() == nullptr) return can_grow(request).error();
  std::string job = asked;
  if (job.empty()) {
    PILOT_TRY(const auto found, find(request));
    if (found.empty()) return AllocationStatus{};
    job = found.back();
  }
  PILOT_TRY(const auto statuses, poll(request, {job}));
  const AllocationStatus& status = statuses.front();
  if (status.phase == AllocationPhase::pending) return status;
  const auto base = ask_one(request.joins_job);
  if (base.has_error()) return base.error().while_doing(growing(request));
  const bool over = base.value().phase == AllocationPhase::ended || base.value().ending;
  const AllocationStatus grown{request.joins_job, AllocationPhase::running, {}, {}};
  if (!over && has_grown(request, base.value())) return grown;
  if (!over && status.phase != AllocationPhase::running) return status;
  auto taken = over ? Result<void>(make_error(ErrorCode::not_found, "it is over: " + base.value().reason))
                    : take_over(request, base.value(), job);
  if (taken.has_value()) return grown;
  if (taken.error().code != ErrorCode::unavailable) (void)cancel(request, job);
  return taken.error().while_doing(growing(request));
}

}  // namespace pilot::adaptors::host
