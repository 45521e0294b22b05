#include "adaptors/batch/host/inside_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "adaptors/batch/host/detached.hpp"
#include "pilot/base/file.hpp"

namespace pilot::adaptors::host {
namespace {

using plugin::AllocationRequest;

constexpr auto look_again = std::chrono::milliseconds(20);
constexpr Duration begin_within = std::chrono::seconds(20);  // for the script to write the nodes down
constexpr Duration end_lead = std::chrono::seconds(60);

// Which system's job it is: allocations/A.system.
std::filesystem::path system_file(const AllocationRequest& request) {
  return request.pilot_dir / "allocations" / (request.allocation + ".system");
}

Error not_in_a_job() {
  return make_error(ErrorCode::usage,
                    "the resource 'allocation' is the batch job that pilot runs in, and it runs in none",
                    "start it from a batch script, or with --resource slurm or pbs");
}

// The script of the job, to be run in it.
JobScript in_place(JobScript parts) {
  parts.directives.clear();
  parts.on_each_node = parts.also_on_each_node;  // the job's other steps want their turn
  parts.writes_own_output = true;
  parts.warning_after.reset();
  return parts;
}

std::size_t lines_in(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text.has_value()) return 0;
  return static_cast<std::size_t>(std::count(text.value().begin(), text.value().end(), '\n'));
}

model::Command run_script(const AllocationRequest& request, const std::string& role) {
  model::Command command;
  command.argv = {"/bin/bash", script_file(request).string(), role};
  command.directory = "/";
  return command;
}

}  // namespace

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : std::string(value);
}

InsideHost::InsideHost(const std::vector<std::shared_ptr<const BatchDialect>>& dialects,
                       BatchDialect::Variables variables, HostTiming timing, const Clock& clock)
    : variables_(std::move(variables)), timing_(timing), clock_(&clock) {
  for (const auto& dialect : dialects)
    systems_.push_back({dialect, std::make_unique<BatchHost>(dialect, timing, clock)});
}

const InsideHost::System* InsideHost::here() const {
  for (const System& system : systems_)
    if (!system.dialect->current_job(variables_).empty()) return &system;
  return nullptr;
}

Result<const InsideHost::System*> InsideHost::of(const AllocationRequest& request) const {
  PILOT_TRY(const std::string name, read_file(system_file(request)));
  for (const System& system : systems_)
    if (system.dialect->name() == name) return &system;
  return make_error(ErrorCode::failed,
                    fmt::format("'{}' names no batch system: {}", system_file(request).string(), name));
}

// What only a submission needs is taken and means nothing: it may stand in the user's configuration, and
// the job has been submitted.
std::vector<plugin::OptionDoc> InsideHost::options() const {
  auto all = script_options();
  for (const System& system : systems_)
    for (auto& option : system.host->options()) {
      const auto is_it = [&](const auto& known) { return known.name == option.name; };
      if (std::ranges::none_of(all, is_it)) all.push_back(std::move(option));
    }
  return all;
}

Result<void> InsideHost::check(const model::PilotSpec& spec) const {
  if (here() == nullptr) return not_in_a_job();
  model::PilotSpec here_only = spec;
  here_only.batch.erase("skip");
  return check_script_options(here_only, {});
}

Result<std::vector<std::string>> InsideHost::validate(const AllocationRequest& request) {
  PILOT_TRY_VOID(check(request.spec));
  const System* system = here();
  return std::vector<std::string>{
      fmt::format("the nodes are those of job {} of {}, in which this runs; nothing is submitted",
                  system->dialect->current_job(variables_), system->dialect->system())};
}

Result<std::string> InsideHost::render(const AllocationRequest& request) const {
  const System* system = here();
  if (system == nullptr) return not_in_a_job();
  return render_job_script(request, in_place(system->dialect->script(request)));
}

Result<std::string> InsideHost::submit(const AllocationRequest& request) {
  if (request.first_node > 1)
    return make_error(ErrorCode::usage, "a pilot on the nodes of the job it runs in can't be extended",
                      "start it with --resource slurm or pbs, which asks for nodes of its own");
  PILOT_TRY_VOID(check(request.spec));
  const System* system = here();
  const std::string job_id = system->dialect->current_job(variables_);
  JobScript parts = in_place(system->dialect->script(request));
  PILOT_TRY_VOID(make_directory(script_file(request).parent_path()));
  PILOT_TRY_VOID(make_directory(output_file(request).parent_path()));
  PILOT_TRY_VOID(write_file(system_file(request), system->dialect->name()));
  const auto job = system->host->poll(request, {job_id});
  if (job.has_value() && job.value()[0].ends_at)
    if (const Duration left = *job.value()[0].ends_at - clock_->wall(); left > 2 * end_lead)
      parts.warning_after = left - end_lead;
  PILOT_TRY_VOID(write_file(script_file(request), render_job_script(request, parts), 0700));
  PILOT_TRY(const auto started,
            proc::run_command(detached(run_script(request, "job"), output_file(request), {}), timing_.tool));
  if (!started.succeeded())
    return make_error(ErrorCode::failed, "the node agents can't be started: " + started.complaint("bash"));
  const Deadline deadline(*clock_, begin_within);
  while (lines_in(nodes_file(request)) == 0) {
    if (deadline.passed() || has_ended(request, job_id, {}))
      return make_error(ErrorCode::failed, fmt::format("the nodes of job {} can't be found: {}", job_id,
                                                       tail_of_file(output_file(request), 3)));
    std::this_thread::sleep_for(look_again);
  }
  const auto nodes = lines_in(nodes_file(request));
  if (nodes >= static_cast<std::size_t>(request.nodes)) return job_id;
  (void)cancel(request, job_id);
  return make_error(ErrorCode::usage,
                    fmt::format("{} nodes are wanted, but job {} has {}", request.nodes, job_id, nodes));
}

bool InsideHost::has_ended(const AllocationRequest& request, const std::string& job_id,
                           Duration within) const {
  const Deadline deadline(*clock_, within);
  while (!read_exit_record(request, job_id)) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(look_again);
  }
  return true;
}

Result<std::vector<plugin::AllocationStatus>> InsideHost::poll(const AllocationRequest& request,
                                                               const std::vector<std::string>& job_ids) {
  PILOT_TRY(const System* system, of(request));
  PILOT_TRY(auto statuses, system->host->poll(request, job_ids));
  for (plugin::AllocationStatus& status : statuses) {
    const auto record = read_exit_record(request, status.job_id);
    if (!record) continue;
    status.phase = model::AllocationPhase::ended;  // for the pilot; the job goes on
    status.reason = fmt::format("its agents have ended ({})", record->cause);
    status.ends_at = record->at;
  }
  return statuses;
}

Result<void> InsideHost::cancel(const AllocationRequest& request, const std::string& job_id) {
  if (job_id.empty() || has_ended(request, job_id, timing_.leave)) return ok();
  PILOT_TRY(const System* system, of(request));
  const auto statuses = system->host->poll(request, {job_id});
  if (statuses.has_value() && statuses.value()[0].phase == model::AllocationPhase::ended) return ok();
  if (system->dialect->current_job(variables_) != job_id)
    return make_error(ErrorCode::unavailable,
                      fmt::format("the agents run in job {}, and this is not in it", job_id),
                      "stop it there, or end the job");
  PILOT_TRY(const auto told, proc::run_command(run_script(request, "leave"), timing_.tool));
  if (has_ended(request, job_id, timing_.cancel)) return ok();
  return make_error(ErrorCode::timed_out,
                    fmt::format("the agents in job {} do not end: {}", job_id, told.complaint("bash")));
}

Result<void> InsideHost::can_release(const AllocationRequest&, const std::string& job_id,
                                     const std::vector<int>&, bool) {
  return make_error(
      ErrorCode::usage,
      fmt::format("job {} is not the pilot's own: it runs in it and gives none of it back", job_id),
      "a pilot that was started with --resource slurm or pbs can shrink");
}

Result<void> InsideHost::release(const AllocationRequest& request, const std::string& job_id,
                                 const std::vector<int>& ranks) {
  return can_release(request, job_id, ranks, false);
}

Result<void> InsideHost::can_grow(const AllocationRequest& request) {
  return make_error(
      ErrorCode::usage,
      fmt::format("job {} is not the pilot's own: it runs in it and makes it no bigger", request.joins_job),
      "start it with --resource slurm or pbs, which asks for nodes of its own");
}

Result<void> InsideHost::launch_agent(const AllocationRequest& request, const std::string& job_id, int rank) {
  if (has_ended(request, job_id, {}))
    return make_error(ErrorCode::not_found, fmt::format("the agents in job {} have ended", job_id));
  PILOT_TRY(const System* system, of(request));
  return system->host->launch_agent(request, job_id, rank);
}

}  // namespace pilot::adaptors::host
