#include "adaptors/batch/host/batch_host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <thread>

#include "adaptors/batch/host/detached.hpp"
#include "adaptors/batch/host/job_script.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/file_lock.hpp"
#include "pilot/base/log.hpp"
#include "pilot/base/units.hpp"
#include "pilot/model/host_list.hpp"

namespace pilot::adaptors::host {
namespace {

using model::AllocationPhase;
using plugin::AllocationRequest;

constexpr Duration of_interest = std::chrono::hours(1);  // after that nobody seems to wait for the job
constexpr Duration kept = std::chrono::hours(24 * 7);
constexpr int tail_lines = 3;

Duration with_jitter(Duration delay) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::duration_cast<Duration>(delay *
                                              std::uniform_real_distribution<double>(0.5, 1.5)(random));
}

// Longer by up to a tenth: commands that began together don't ask together.
Duration not_all_at_once(Duration interval) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::duration_cast<Duration>(interval *
                                              std::uniform_real_distribution<double>(1.0, 1.1)(random));
}

// Beside the folders of the user's pilots: PILOT_HOME/batch/slurm.jobs.
std::filesystem::path jobs_file(const AllocationRequest& request, std::string_view name) {
  return request.pilot_dir.parent_path().parent_path() / "batch" / fmt::format("{}.jobs", name);
}

// What all hosts can agree on, however their own clocks stand: that of the file system that they share.
WallTime shared_time(const std::filesystem::path& file, const Clock& clock) {
  constexpr Duration agreed = std::chrono::seconds(2);
  struct stat status {};
  const auto mark = file.string() + ".lock";  // it is held
  if (::utimensat(AT_FDCWD, mark.c_str(), nullptr, 0) != 0 || ::stat(mark.c_str(), &status) != 0)
    return clock.wall();
  const WallTime stamp{std::chrono::seconds(status.st_mtim.tv_sec) +
                       std::chrono::nanoseconds(status.st_mtim.tv_nsec)};
  const Duration ahead = stamp - system_clock().wall();
  return std::chrono::abs(ahead) < agreed ? clock.wall() : clock.wall() + ahead;
}

Duration poll_interval(const model::PilotSpec& spec, Duration otherwise) {
  const auto wish = parse_duration(option(spec, "poll_interval"));
  return wish.has_value() ? wish.value() : otherwise;
}

JobStatus unknown(const std::string& job_id, std::string reason) {
  JobStatus status;
  status.job_id = job_id;
  status.reason = std::move(reason);
  return status;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

// What the job itself printed is often the cause.
std::string last_output(const AllocationRequest& request) {
  std::string tail = tail_of_file(output_file(request), tail_lines);
  std::replace(tail.begin(), tail.end(), '\n', '|');
  return tail.empty() ? "" : fmt::format("; its output ends with: {}", tail);
}

}  // namespace

bool is_same_host(std::string_view one, std::string_view other) {
  return one.substr(0, one.find('.')) == other.substr(0, other.find('.'));
}

bool holds(const JobStatus& job, const std::string& node) {
  const auto hosts = model::expand_hosts(job.hosts);
  return hosts.has_error() || std::any_of(hosts.value().begin(), hosts.value().end(),
                                          [&](const auto& host) { return is_same_host(host, node); });
}

Result<std::vector<std::string>> nodes_of(const AllocationRequest& request) {
  PILOT_TRY(const std::string names, read_file(nodes_file(request)));
  std::vector<std::string> nodes;
  std::istringstream lines(names);
  for (std::string line; std::getline(lines, line);) nodes.push_back(line);
  return nodes;
}

std::string_view to_string(ExitCause cause) {
  switch (cause) {
    case ExitCause::none:
      return "none";
    case ExitCause::completed:
      return "completed";
    case ExitCause::failed:
      return "failed";
    case ExitCause::time_limit:
      return "time limit";
    case ExitCause::node_failure:
      return "node failure";
    case ExitCause::out_of_memory:
      return "out of memory";
    case ExitCause::preempted:
      return "preempted";
    case ExitCause::cancelled:
      return "cancelled";
  }
  return "none";
}

BatchHost::BatchHost(std::shared_ptr<const BatchDialect> dialect, HostTiming timing, const Clock& clock)
    : dialect_(std::move(dialect)), timing_(timing), clock_(&clock) {}

std::vector<plugin::OptionDoc> BatchHost::options() const {
  auto all = dialect_->options();
  for (auto& option : script_options()) all.push_back(std::move(option));
  all.push_back({"poll_interval", format_duration(timing_.poll_interval),
                 "the system is asked about a user's jobs no more often than that"});
  return all;
}

Result<void> BatchHost::check(const model::PilotSpec& spec) const {
  if (const auto wish = option(spec, "poll_interval"); !wish.empty() && !parse_duration(wish).has_value())
    return make_error(ErrorCode::usage, fmt::format("batch.poll_interval: '{}' is no time", wish),
                      "a time like 10s or 1m");
  return dialect_->check(spec);
}

Result<std::string> BatchHost::render(const AllocationRequest& request) const {
  return render_job_script(request, dialect_->script(request));
}

// --- calling tools ---------------------------------------------------------------------------------------

Result<proc::CommandResult> BatchHost::call(const model::Command& command) const {
  constexpr int no_such_program = 127;  // of env(1)
  PILOT_TRY(proc::CommandResult answer, proc::run_command(command, timing_.tool));
  if (!answer.timed_out && answer.status.known && answer.status.code == no_such_program)
    return make_error(ErrorCode::failed,
                      fmt::format("the commands of {} can't be run here: {}", dialect_->system(), answer.err),
                      "they must be on PATH");
  return answer;
}

template <typename T>
Result<T> BatchHost::insist(const std::function<Result<T>()>& once) const {
  const Deadline deadline(*clock_, timing_.patience);
  for (Duration delay = timing_.first_delay;; delay = std::min(2 * delay, timing_.longest_delay)) {
    Result<T> result = once();
    if (result.has_value() || result.error().code != ErrorCode::unavailable || deadline.passed())
      return result;
    const Duration pause = std::min(with_jitter(delay), deadline.left());
    log::warning("{}; trying again in {}", result.error().text(), format_duration(pause));
    std::this_thread::sleep_for(pause);
  }
}

template Result<void> BatchHost::insist<void>(const std::function<Result<void>()>&) const;
template Result<std::string> BatchHost::insist<std::string>(
    const std::function<Result<std::string>()>&) const;
template Result<std::vector<std::string>> BatchHost::insist<std::vector<std::string>>(
    const std::function<Result<std::vector<std::string>>()>&) const;
template Result<JobStatus> BatchHost::insist<JobStatus>(const std::function<Result<JobStatus>()>&) const;

// --- submitting ------------------------------------------------------------------------------------------

Result<std::vector<std::string>> BatchHost::find(const AllocationRequest& request) const {
  PILOT_TRY(const auto answer, call(dialect_->find(request)));
  return dialect_->found(request, answer);
}

Result<void> BatchHost::write_script(const AllocationRequest& request) const {
  PILOT_TRY_VOID(check(request.spec));
  PILOT_TRY(const std::string text, render(request));
  PILOT_TRY_VOID(make_directory(script_file(request).parent_path()));
  PILOT_TRY_VOID(make_directory(output_file(request).parent_path()));
  if (dialect_->script(request).carries_environment)
    PILOT_TRY_VOID(write_file(environment_file(request), environment_text(own_environment()), 0600));
  return write_file(script_file(request), text, 0700);
}

Result<std::string> BatchHost::submit_once(const AllocationRequest& request, bool again) const {
  if (again) {  // the job may be there although the answer never came
    PILOT_TRY(const auto ids, find(request));
    if (!ids.empty()) return ids.back();
  }
  PILOT_TRY(const auto answer, call(dialect_->submit(request, script_file(request))));
  return dialect_->submitted(answer);
}

// A system that does not answer is no reason to refuse: false.
Result<bool> BatchHost::refuse_what_never_fits(const AllocationRequest& request) const {
  std::vector<proc::CommandResult> answers;
  bool known = true;
  for (const auto& question : dialect_->ask_for_sizes()) {
    const auto answer = call(question);
    if (answer.has_error()) return false;
    known = known && answer.value().succeeded();
    answers.push_back(answer.value());
  }
  PILOT_TRY_VOID(dialect_->fits(request, answers));
  return known;
}

// Both systems accept jobs for which the cluster is too small; they would wait for ever.
Result<void> BatchHost::refuse_what_never_runs(const std::string& job_id) const {
  const Deadline deadline(*clock_, timing_.settle);
  for (;;) {
    const auto status = ask_one(job_id);
    if (status.has_value() && status.value().can_never_run) {
      (void)cancel_job(job_id);
      return make_error(ErrorCode::usage, fmt::format("the job would never run: {}", status.value().reason));
    }
    const bool still_new =
        status.has_value() && status.value().phase == AllocationPhase::pending && !status.value().settled;
    if (!still_new || deadline.passed()) return ok();
    std::this_thread::sleep_for(timing_.settle_look);
  }
}

Result<std::string> BatchHost::submit(const AllocationRequest& request) {
  PILOT_TRY_VOID(write_script(request));
  const auto doing = fmt::format("cannot submit to {}", dialect_->name());
  if (const auto fits = refuse_what_never_fits(request); fits.has_error())
    return fits.error().while_doing(doing);
  bool again = false;
  const auto job = insist<std::string>([&] { return submit_once(request, std::exchange(again, true)); });
  if (job.has_error()) return job.error().while_doing(doing);
  if (const auto fine = refuse_what_never_runs(job.value()); fine.has_error())
    return fine.error().while_doing(doing);
  return job.value();
}

// --- looking ---------------------------------------------------------------------------------------------

// Those of the jobs that the system, or its history, knows.
Result<std::vector<JobStatus>> BatchHost::ask(const std::vector<std::string>& job_ids) const {
  PILOT_TRY(const auto answer, call(dialect_->poll(job_ids)));
  PILOT_TRY(auto jobs, dialect_->polled(answer));
  std::vector<std::string> absent;
  for (const std::string& id : job_ids)
    if (std::none_of(jobs.begin(), jobs.end(), [&](const JobStatus& job) { return job.job_id == id; }))
      absent.push_back(id);
  if (absent.empty()) return jobs;
  PILOT_TRY(const auto past, call(dialect_->history(absent)));
  auto remembered = dialect_->remembered(past);
  if (remembered.has_error()) return jobs;  // a history is a convenience
  for (JobStatus& job : remembered.value())
    if (std::find(absent.begin(), absent.end(), job.job_id) != absent.end()) jobs.push_back(std::move(job));
  return jobs;
}

Result<JobStatus> BatchHost::ask_one(const std::string& job_id) const {
  PILOT_TRY(auto jobs, ask({job_id}));
  for (JobStatus& job : jobs)
    if (job.job_id == job_id) return std::move(job);
  return make_error(ErrorCode::not_found, fmt::format("{} does not know job {}", dialect_->system(), job_id));
}

void BatchHost::refresh(KnownJobs& known, const std::vector<std::string>& job_ids,
                        const std::filesystem::path& path) const {
  auto ids = known.worth_asking(shared_time(path, *clock_), of_interest);
  for (const std::string& id : job_ids)
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  const auto jobs = ask(ids);
  const WallTime now = shared_time(path, *clock_);  // a system that is away takes its time to say nothing
  const std::string silence =
      jobs.has_value() ? "" : fmt::format("{} does not answer: {}", dialect_->system(), jobs.error().text());
  for (const std::string& id : ids)
    known.set(unknown(id, !silence.empty() ? silence
                                           : fmt::format("{} does not know job {}", dialect_->system(), id)),
              now);
  if (jobs.has_value())
    for (const JobStatus& job : jobs.value()) known.set(job, now);
}

// The system's word counts.  Where it has none, what the job itself left behind does.
plugin::AllocationStatus BatchHost::conclude(const AllocationRequest& request, const JobStatus& heard) const {
  plugin::AllocationStatus status{heard.job_id, heard.phase, heard.reason, heard.ends_at};
  if (heard.phase == AllocationPhase::unknown) {
    const auto record = read_exit_record(request, heard.job_id);
    if (!record) return status;
    status.phase = AllocationPhase::ended;
    status.reason = fmt::format("its script ended with exit code {} ({})", record->code, record->cause);
    status.ends_at = record->at;
  }
  if (status.phase == AllocationPhase::ended) status.reason += last_output(request);
  if (status.phase == AllocationPhase::pending && heard.starts_at)
    status.reason += fmt::format("; expected to start at {}", iso8601(*heard.starts_at));
  return status;
}

Result<std::string> BatchHost::job_of(const AllocationRequest& request) {
  PILOT_TRY(const auto jobs, find(request));
  return jobs.empty() ? std::string() : jobs.back();
}

Result<std::vector<plugin::AllocationStatus>> BatchHost::poll(const AllocationRequest& request,
                                                              const std::vector<std::string>& job_ids) {
  const auto path = jobs_file(request, dialect_->name());
  PILOT_TRY_VOID(make_directory(path.parent_path()));
  const FileLock lock(path);  // one process of the user at a time asks; the others wait and use its answer
  const auto text = read_file(path);
  KnownJobs known = KnownJobs::parse(text.has_value() ? text.value() : "");
  const Duration age = not_all_at_once(poll_interval(request.spec, timing_.poll_interval));
  WallTime now = shared_time(path, *clock_);
  const auto is_known = [&](const std::string& id) { return known.find(id, now, age) != nullptr; };
  if (!std::all_of(job_ids.begin(), job_ids.end(), is_known)) {
    refresh(known, job_ids, path);
    now = shared_time(path, *clock_);
    known.drop_older_than(now - kept);
    PILOT_TRY_VOID(write_file(path, known.text(), 0600));
  }
  std::vector<plugin::AllocationStatus> statuses;
  for (const std::string& id : job_ids) {
    const JobStatus* heard = known.find(id, now, of_interest);
    statuses.push_back(conclude(request, heard != nullptr ? *heard : unknown(id, "")));
  }
  return statuses;
}

// --- ending ----------------------------------------------------------------------------------------------

Result<void> BatchHost::cancel_job(const std::string& job_id) const {
  PILOT_TRY(const auto answer, call(dialect_->cancel(job_id)));
  return dialect_->cancelled(answer);
}

// So that whoever looks next need not wait for the answer to grow old.
Result<void> BatchHost::remember(const AllocationRequest& request, const std::string& job_id,
                                 const Result<JobStatus>& last) const {
  JobStatus status = last.has_value() ? last.value() : unknown(job_id, "cancelled");
  status.phase = AllocationPhase::ended;
  const auto path = jobs_file(request, dialect_->name());
  PILOT_TRY_VOID(make_directory(path.parent_path()));
  const FileLock lock(path);
  const auto text = read_file(path);
  KnownJobs known = KnownJobs::parse(text.has_value() ? text.value() : "");
  known.set(std::move(status), shared_time(path, *clock_));
  return write_file(path, known.text(), 0600);
}

// --- starting an agent again -----------------------------------------------------------------------------

Result<void> BatchHost::launch_agent(const AllocationRequest& request, const std::string& job_id, int rank) {
  PILOT_TRY(const JobStatus job, ask_one(job_id));
  if (job.phase == AllocationPhase::ended || job.ending)
    return make_error(ErrorCode::not_found, fmt::format("job {} is over: {}", job_id, job.reason));
  if (job.phase == AllocationPhase::suspended)  // a task that is started now hangs, and with PBS its MoM
    return make_error(
        ErrorCode::unavailable,
        fmt::format("job {} is suspended ({}): nothing can be started in it", job_id, job.reason));
  if (job.phase != AllocationPhase::running)
    return make_error(ErrorCode::unavailable, fmt::format("job {} does not run: {}", job_id, job.reason));
  PILOT_TRY(const auto nodes, nodes_of(request));
  if (rank < 0 || rank >= static_cast<int>(nodes.size()))
    return make_error(ErrorCode::not_found, fmt::format("job {} has no node of rank {}", job_id, rank));
  const std::string& node = nodes[static_cast<std::size_t>(rank)];
  if (!holds(job, node))
    return make_error(ErrorCode::not_found,
                      fmt::format("job {} has lost node {}; it holds {}", job_id, node, job.hosts));
  const auto output =
      request.pilot_dir / "logs" / fmt::format("launch-node-{}.log", request.first_node + rank);
  const auto command = dialect_->run_on(
      job_id, node, {"/bin/bash", script_file(request).string(), "node", std::to_string(rank)});
  PILOT_TRY(const auto answer, call(detached(command, output, timing_.launch)));
  if (answer.succeeded()) return ok();
  return make_error(ErrorCode::unavailable,
                    fmt::format("no agent could be started on {}: {}; {}", node,
                                answer.complaint(command.argv.front()), tail_of_file(output, tail_lines)));
}

}  // namespace pilot::adaptors::host
