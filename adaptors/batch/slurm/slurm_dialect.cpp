#include "adaptors/batch/slurm/slurm_dialect.hpp"

#include <fmt/format.h>

#include <charconv>
#include <ranges>

#include "adaptors/batch/slurm/complaints.hpp"
#include "adaptors/batch/slurm/directives.hpp"
#include "adaptors/batch/slurm/job_states.hpp"
#include "adaptors/batch/slurm/partitions.hpp"
#include "pilot/model/host_list.hpp"

namespace pilot::adaptors::slurm {
namespace {

using plugin::AllocationRequest;

constexpr auto end_lead = std::chrono::seconds(30);  // before the end, agents are told to stop their services
constexpr std::string_view poll_format = "--format=%i|%T|%r|%S|%e|%N";
constexpr std::string_view history_format = "--format=jobid,state,exitcode,reason,nodelist";

// Times as seconds since 1970, words in English, and no filters that the user may have set.
model::Command asking(std::vector<std::string> argv) {
  model::Command command;
  command.argv = {"env"};
  for (const char* variable :
       {"SQUEUE_PARTITION", "SQUEUE_USERS", "SQUEUE_ACCOUNT", "SQUEUE_NAMES", "SQUEUE_QOS"})
    command.argv.insert(command.argv.end(), {"-u", variable});
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.env = {{"SLURM_TIME_FORMAT", "%s"}, {"LC_ALL", "C"}};
  command.directory = "/";
  return command;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (auto end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<WallTime> time_of(std::string_view seconds) {  // "N/A", "Unknown": none
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
  if (error != std::errc{} || stop != seconds.data() + seconds.size() || value == 0) return std::nullopt;
  return unix_time(value);
}

std::string hosts_of(std::string_view text) {
  return std::string(text == "None assigned" || text == "(null)" ? "" : text);
}

}  // namespace

host::JobScript SlurmDialect::script(const AllocationRequest& request) const {
  host::JobScript parts;
  parts.directives = directives_of(request);
  parts.prefix = "#SBATCH ";
  parts.job_id = "$SLURM_JOB_ID";
  parts.rank = "\"$SLURM_PROCID\"";
  parts.node_name = "\"${SLURMD_NODENAME:-}\"";
  // Slurm 22.05 counts one core on each node that a job has gained.
  if (request.joins_job.empty()) parts.cores = "${SLURM_CPUS_ON_NODE:-}";
  parts.submit_host = "\"$SLURM_SUBMIT_HOST\"";
  parts.scratch = "\"${SLURM_TMPDIR:-}\"";
  parts.topology = "\"${SLURM_TOPOLOGY_ADDR:-}\"";
  parts.list_nodes = "scontrol show hostnames \"$SLURM_JOB_NODELIST\"";
  parts.node_memory =
      "scontrol -d -o show job \"$SLURM_JOB_ID\" | grep -o 'Nodes=[^ ]* CPU_IDs=[^ ]* Mem=[0-9]*' |\n"
      "    while read -r nodes _ memory; do\n"
      "      scontrol show hostnames \"${nodes#Nodes=}\" | sed \"s/\\$/ $((${memory#Mem=} * 1048576))/\"\n"
      "    done";
  if (request.spec.walltime && *request.spec.walltime > 2 * end_lead)
    parts.warning_after = *request.spec.walltime - end_lead;
  // One step for all nodes.  It outlives the loss of a node, even of the one where srun itself runs.
  const std::string srun =
      "srun --nodes=\"$SLURM_JOB_NUM_NODES\" --ntasks=\"$SLURM_JOB_NUM_NODES\" --ntasks-per-node=1 --mem=0 "
      "\\\n"
      "    --cpu-bind=none --no-kill --kill-on-bad-exit=0 --wait=0 --export=ALL";
  parts.on_each_node = srun + " \"$@\"";
  // Nodes may have been given back since the job began, and then its variables are not true any more.
  parts.also_on_each_node =
      "(\n"
      "    now=$(squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%D)\n"
      "    SLURM_JOB_NUM_NODES=${now:-$SLURM_JOB_NUM_NODES}\n"
      "    unset SLURM_NNODES SLURM_NPROCS SLURM_NTASKS SLURM_NODELIST SLURM_JOB_NODELIST "
      "SLURM_TASKS_PER_NODE \\\n"
      "      SLURM_JOB_CPUS_PER_NODE\n    " +
      srun + " --overlap \"$@\"\n  )";
  return parts;
}

std::vector<model::Command> SlurmDialect::ask_for_sizes() const {
  return {asking({"sinfo", "--noheader", std::string(partition_format)})};
}

Result<void> SlurmDialect::fits(const AllocationRequest& request,
                                const std::vector<proc::CommandResult>& answers) const {
  if (!answers.at(0).succeeded()) return ok();
  return fits_partition(request, parse_partitions(answers[0].out));
}

model::Command SlurmDialect::judge(const AllocationRequest& request,
                                   const std::filesystem::path& script) const {
  model::Command command = submit(request, script);
  command.argv.insert(command.argv.end() - 1, "--test-only");
  command.directory = "/";
  return command;
}

// "sbatch: Job 11 to start at 2026-11-29T19:50:45 using 2 processors on nodes node[01-02] in partition
// normal"
Result<std::string> SlurmDialect::judged(const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("sbatch", answer);
  const auto at = answer.err.find(" to start at ");
  if (at == std::string::npos) return std::string("it would be taken");
  return "it would start" + answer.err.substr(at + 9, answer.err.find('\n', at) - at - 9);
}

model::Command SlurmDialect::submit(const AllocationRequest& request,
                                    const std::filesystem::path& script) const {
  model::Command command;  // its environment becomes the job's
  command.argv = {"env"};
  for (const Setting& setting : settings_of(request))
    command.argv.insert(command.argv.end(), {"-u", overruling_variable("SBATCH", setting.name)});
  command.argv.insert(command.argv.end(), {"sbatch", "--parsable", script.string()});
  command.directory = request.pilot_dir;
  return command;
}

Result<std::string> SlurmDialect::submitted(const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("sbatch", answer);
  // Sites print banners before it.
  constexpr std::string_view sentence = "Submitted batch job ";
  for (const std::string_view line : split(answer.out, '\n') | std::views::reverse) {
    auto id = split(line, ';').front();  // "12;cluster"
    if (id.starts_with(sentence)) id = split(id.substr(sentence.size()), ' ').front();
    if (!id.empty() && id.find_first_not_of("0123456789") == std::string_view::npos) return std::string(id);
  }
  // It may have come all the same: it is looked for by its name.
  return make_error(ErrorCode::unavailable, fmt::format("sbatch printed no job id but '{}'", answer.out));
}

model::Command SlurmDialect::find(const AllocationRequest& request) const {
  return asking({"squeue", "--noheader", "--states=all", "--name=" + job_name(request), "--format=%i|%k"});
}

Result<std::vector<std::string>> SlurmDialect::found(const AllocationRequest& request,
                                                     const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("squeue", answer);
  std::vector<std::string> ids;
  for (const std::string_view line : split(answer.out, '\n'))
    if (const auto bar = line.find('|');
        bar != std::string_view::npos && line.substr(bar + 1) == comment(request))
      ids.emplace_back(line.substr(0, bar));
  return ids;
}

model::Command SlurmDialect::poll(const std::vector<std::string>& job_ids) const {
  return asking({"squeue", "--noheader", "--states=all", fmt::format("--jobs={}", fmt::join(job_ids, ",")),
                 std::string(poll_format)});
}

Result<std::vector<host::JobStatus>> SlurmDialect::polled(const proc::CommandResult& answer) const {
  std::vector<host::JobStatus> jobs;
  if (!answer.succeeded()) {
    if (is_unknown_job(answer)) return jobs;
    return complaint("squeue", answer);
  }
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto fields = split(line, '|');
    if (fields.size() != 6) continue;
    host::JobStatus job;
    job.job_id = fields[0];
    describe(job, fields[1], fields[2]);
    if (job.phase == model::AllocationPhase::pending)
      job.starts_at = time_of(fields[3]);
    else
      job.ends_at = time_of(fields[4]);
    job.hosts = hosts_of(fields[5]);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

model::Command SlurmDialect::history(const std::vector<std::string>& job_ids) const {
  return asking({"sacct", "--noheader", "--allocations", "--parsable2",
                 fmt::format("--jobs={}", fmt::join(job_ids, ",")), std::string(history_format)});
}

Result<std::vector<host::JobStatus>> SlurmDialect::remembered(const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("sacct", answer);
  std::vector<host::JobStatus> jobs;
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto fields = split(line, '|');
    if (fields.size() != 5) continue;
    host::JobStatus job;
    job.job_id = fields[0];
    describe(job, fields[1], fields[3], fields[2]);
    job.hosts = hosts_of(fields[4]);
    std::erase_if(jobs, [&](const host::JobStatus& earlier) { return earlier.job_id == job.job_id; });
    jobs.push_back(std::move(job));  // after a resize there are several lines, the newest last
  }
  return jobs;
}

model::Command SlurmDialect::cancel(const std::string& job_id) const {
  return asking({"scancel", job_id});
}

Result<void> SlurmDialect::cancelled(const proc::CommandResult& answer) const {
  if (answer.succeeded() || is_unknown_job(answer)) return ok();
  return complaint("scancel", answer);
}

// Without slurmdbd the first update of a job's size goes through, and every later one waits for ever for an
// index of its database.
model::Command SlurmDialect::ask_for_limits() const {
  return asking({"scontrol", "show", "config"});
}

Result<void> SlurmDialect::may_release_again(const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("scontrol", answer);
  for (const std::string_view line : split(answer.out, '\n'))
    if (line.starts_with("AccountingStorageType") && line.ends_with("/slurmdbd")) return ok();
  return make_error(
      ErrorCode::usage, "this Slurm has no slurmdbd, and so resizes a job only once",
      "what it gives back, it gives back at once; nodes of another job, or a whole extension, can go");
}

// Within a job scontrol would leave scripts in the current folder.
model::Command SlurmDialect::release(const std::string& job_id, const std::vector<std::string>& kept,
                                     const std::vector<std::string>&) const {
  return asking({"-u", "SLURM_JOB_ID", "-u", "SLURM_JOBID", "scontrol", "update", "JobId=" + job_id,
                 "NodeList=" + model::compress_hosts(kept)});
}

Result<void> SlurmDialect::released(const proc::CommandResult& answer) const {
  return answer.succeeded() ? ok() : Result<void>(complaint("scontrol", answer));
}

model::Command SlurmDialect::run_on(const std::string& job_id, const std::string& node,
                                    const std::vector<std::string>& argv) const {
  model::Command command;
  command.argv = {"srun",    "--jobid=" + job_id,  "--overlap",       "--nodes=1", "--ntasks=1",
                  "--mem=0", "--nodelist=" + node, "--cpu-bind=none", "--no-kill", "--export=ALL"};
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.directory = "/";
  return command;
}

}  // namespace pilot::adaptors::slurm
