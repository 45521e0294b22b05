// Parts of a running job are given back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "adaptors/batch/host/batch_host.hpp"
#include "pilot/model/host_list.hpp"

namespace pilot::adaptors::host {
namespace {

using plugin::AllocationRequest;

// Those nodes of the job that have these ranks.  Errors: not_found.
Result<std::vector<std::string>> named(const std::vector<std::string>& nodes, const std::vector<int>& ranks,
                                       const std::string& job_id) {
  std::vector<std::string> names;
  for (const int rank : ranks) {
    if (rank < 0 || rank >= static_cast<int>(nodes.size()))
      return make_error(ErrorCode::not_found, fmt::format("job {} has no node of rank {}", job_id, rank));
    names.push_back(nodes[static_cast<std::size_t>(rank)]);
  }
  return names;
}

// What a job keeps.  It may have gained nodes since it began, and then only the system knows them all.
std::vector<std::string> without(const JobStatus& job, const std::vector<std::string>& began_with,
                                 const std::vector<std::string>& dropped) {
  const auto held = model::expand_hosts(job.hosts);
  auto rest = held.has_value() ? held.value() : began_with;
  std::erase_if(rest, [&](const std::string& node) {
    return std::ranges::any_of(dropped, [&](const auto& other) { return is_same_host(node, other); });
  });
  return rest;
}

}  // namespace

Result<void> BatchHost::can_release(const AllocationRequest& request, const std::string& job_id,
                                    const std::vector<int>& ranks, bool again) {
  PILOT_TRY(const auto nodes, nodes_of(request));
  PILOT_TRY_VOID(named(nodes, ranks, job_id));
  const bool has_script = request.joins_job.empty();
  if (has_script && std::find(ranks.begin(), ranks.end(), 0) != ranks.end())
    return make_error(ErrorCode::usage,
                      fmt::format("{} can't take {} from job {}: the job's script runs there",
                                  dialect_->system(), nodes.front(), job_id),
                      "the first node of an allocation goes with all the others of it");
  return again ? may_resize_again(job_id) : ok();
}

Result<void> BatchHost::may_resize_again(const std::string& job_id) const {
  const auto question = dialect_->ask_for_limits();
  if (question.argv.empty()) return ok();
  const auto allowed = insist<void>([&]() -> Result<void> {
    PILOT_TRY(const auto answer, call(question));
    return dialect_->may_release_again(answer);
  });
  if (allowed.has_value()) return ok();
  return allowed.error().while_doing(fmt::format("job {} can't be resized for a second time", job_id));
}

Result<void> BatchHost::release(const AllocationRequest& request, const std::string& job_id,
                                const std::vector<int>& ranks) {
  PILOT_TRY(const auto nodes, nodes_of(request));
  PILOT_TRY(const auto wanted, named(nodes, ranks, job_id));
  const auto doing =
      fmt::format("giving {} of job {} back to {}", fmt::join(wanted, ", "), job_id, dialect_->name());
  const auto held = [&](const JobStatus& job) {
    std::vector<std::string> dropped;
    for (const auto& node : wanted)
      if (holds(job, node)) dropped.push_back(node);
    return dropped;
  };
  const auto done = insist<void>([&]() -> Result<void> {
    PILOT_TRY(const JobStatus job, ask_one(job_id));
    if (job.phase == model::AllocationPhase::ended || job.ending)
      return make_error(ErrorCode::not_found, fmt::format("the job is over: {}", job.reason));
    const auto dropped = held(job);
    if (dropped.empty()) return ok();
    const auto keeps = without(job, nodes, dropped);
    PILOT_TRY(const auto answer, call(dialect_->release(job_id, keeps, dropped)));
    PILOT_TRY_VOID(dialect_->released(answer));
    PILOT_TRY(const JobStatus smaller, ask_one(job_id));
    if (const auto left = held(smaller); !left.empty())
      return make_error(ErrorCode::failed, fmt::format("the command succeeded, but the job still holds {}",
                                                       fmt::join(left, ", ")));
    return ok();
  });
  return done.has_error() ? Result<void>(done.error().while_doing(doing)) : ok();
}

}  // namespace pilot::adaptors::host
