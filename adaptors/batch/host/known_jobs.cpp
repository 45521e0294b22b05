#include "adaptors/batch/host/known_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace pilot::adaptors::host {
namespace {

constexpr std::array phases{model::AllocationPhase::pending, model::AllocationPhase::running,
                            model::AllocationPhase::suspended, model::AllocationPhase::ended,
                            model::AllocationPhase::unknown};

std::int64_t milliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

WallTime from_milliseconds(std::int64_t count) {
  constexpr std::int64_t most = std::int64_t{1} << 43;  // fits into nanoseconds
  return WallTime{std::chrono::milliseconds(std::clamp<std::int64_t>(count, 0, most))};
}

constexpr int most_counted = 1000;

// How many times as long as usual an answer counts.
int patience(model::AllocationPhase phase, int same) {
  if (phase != model::AllocationPhase::pending && phase != model::AllocationPhase::unknown) return 1;
  return same < 3 ? 1 : same < 6 ? 2 : 4;
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

}  // namespace

// JOB HEARD-MS PHASE STARTS-MS ENDS-MS SAME REASON...
KnownJobs KnownJobs::parse(std::string_view text) {
  KnownJobs known;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string job_id, phase, reason;
    std::int64_t heard = 0, starts = 0, ends = 0;
    int same = 0;
    if (!(fields >> job_id >> heard >> phase >> starts >> ends >> same) || same < 0) continue;
    std::getline(fields >> std::ws, reason);
    const auto found = std::find_if(phases.begin(), phases.end(),
                                    [&](auto candidate) { return model::to_string(candidate) == phase; });
    if (found == phases.end()) continue;
    JobStatus status;
    status.job_id = job_id;
    status.phase = *found;
    status.reason = reason;
    if (starts > 0) status.starts_at = from_milliseconds(starts);
    if (ends > 0) status.ends_at = from_milliseconds(ends);
    known.jobs_.insert_or_assign(job_id, Heard{std::move(status), from_milliseconds(heard), same});
  }
  return known;
}

std::string KnownJobs::text() const {
  std::string text;
  for (const auto& [job_id, heard] : jobs_) {
    const JobStatus& status = heard.status;
    text += fmt::format(
        "{} {} {} {} {} {} {}\n", job_id, milliseconds(heard.at), model::to_string(status.phase),
        status.starts_at ? milliseconds(*status.starts_at) : 0,
        status.ends_at ? milliseconds(*status.ends_at) : 0, heard.same, on_one_line(status.reason));
  }
  return text;
}

const JobStatus* KnownJobs::find(const std::string& job_id, WallTime now, Duration age) const {
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end() || found->second.at > now) return nullptr;
  const bool over = found->second.status.phase == model::AllocationPhase::ended;  // that does not change
  return over || now - found->second.at < age * patience(found->second.status.phase, found->second.same)
             ? &found->second.status
             : nullptr;
}

void KnownJobs::set(JobStatus status, WallTime heard) {
  const std::string job_id = status.job_id;
  int same = 0;
  if (const auto before = jobs_.find(job_id); before != jobs_.end())
    if (before->second.status.phase == status.phase &&
        on_one_line(before->second.status.reason) == on_one_line(status.reason))
      same = std::min(before->second.same + 1, most_counted);
  jobs_.insert_or_assign(job_id, Heard{std::move(status), heard, same});
}

std::vector<std::string> KnownJobs::worth_asking(WallTime now, Duration age) const {
  std::vector<std::string> ids;
  for (const auto& [job_id, heard] : jobs_)
    if (heard.status.phase != model::AllocationPhase::ended && heard.at <= now && now - heard.at < age)
      ids.push_back(job_id);
  return ids;
}

void KnownJobs::drop_older_than(WallTime time) {
  std::erase_if(jobs_, [time](const auto& job) { return job.second.at < time; });
}

}  // namespace pilot::adaptors::host
