#include "adaptors/batch/pbs/pbs_dialect.hpp"

#include <fmt/format.h>

#include <sstream>

#include "adaptors/batch/pbs/complaints.hpp"
#include "adaptors/batch/pbs/job_states.hpp"
#include "adaptors/batch/pbs/queues.hpp"

namespace pilot::adaptors::pbs {
namespace {

using plugin::AllocationRequest;

constexpr auto end_lead = std::chrono::seconds(30);  // before the end, agents are told to stop their services

// Times in UTC, words in English.
model::Command asking(std::vector<std::string> argv) {
  model::Command command;
  command.argv = std::move(argv);
  command.env = {{"TZ", "UTC0"}, {"LC_ALL", "C"}};
  command.directory = "/";
  return command;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Result<std::vector<host::JobStatus>> jobs_of(const proc::CommandResult& answer) {
  if (!answer.succeeded() && !is_unknown_job(answer)) return complaint("qstat", answer);
  std::vector<host::JobStatus> jobs;
  for (const Attributes& job : parse_qstat(answer.out)) jobs.push_back(job_status(job));
  return jobs;
}

}  // namespace

host::JobScript PbsDialect::script(const AllocationRequest& request) const {
  const model::PilotSpec& spec = request.spec;
  host::JobScript parts;
  parts.directives = directives_of(request);
  parts.prefix = "#PBS ";
  parts.job_id = "$PBS_JOBID";
  parts.rank = "\"$PBS_NODENUM\"";
  parts.node_name = "\"$(hostname)\"";
  // Without ncpus in the request, NCPUS is 1 although the whole node is ours.
  if (host::option(spec, "chunk").find("ncpus=") != std::string::npos) parts.cores = "${NCPUS:-}";
  parts.submit_host = "\"$PBS_O_HOST\"";
  parts.list_nodes = "awk '!seen[$0]++' \"$PBS_NODEFILE\"";
  parts.on_each_node = "pbsdsh -- \"$@\"";
  parts.also_on_each_node = parts.on_each_node;
  parts.carries_environment = true;  // by -V, qstat -f would show it to every user
  parts.removes_tmpdir = true;
  parts.writes_own_output = true;
  if (spec.walltime && *spec.walltime > 2 * end_lead) parts.warning_after = *spec.walltime - end_lead;
  return parts;
}

std::vector<model::Command> PbsDialect::ask_for_sizes() const {
  return {asking({"qstat", "-Qf", "-F", "json"}), asking({"pbsnodes", "-av", "-F", "json"})};
}

Result<void> PbsDialect::fits(const AllocationRequest& request,
                              const std::vector<proc::CommandResult>& answers) const {
  if (answers.at(0).succeeded()) PILOT_TRY_VOID(fits_queue(request, parse_queues(answers[0].out)));
  return answers.at(1).succeeded() ? fits_nodes(request, parse_nodes(answers[1].out)) : ok();
}

model::Command PbsDialect::judge(const AllocationRequest&, const std::filesystem::path&) const {
  return {};
}

Result<std::string> PbsDialect::judged(const proc::CommandResult&) const {
  return std::string();
}

model::Command PbsDialect::submit(const AllocationRequest& request,
                                  const std::filesystem::path& script) const {
  model::Command command;
  command.argv = {"qsub", script.string()};
  command.directory = request.pilot_dir;
  return command;
}

Result<std::string> PbsDialect::submitted(const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("qsub", answer);
  std::string id;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {  // the last one: sites print banners before it
    const auto words = words_of(line);
    if (words.size() == 1 && words[0].find_first_of("0123456789") == 0) id = words[0];
  }
  if (!id.empty()) return id;
  // It may have come all the same: it is looked for by its name.
  return make_error(ErrorCode::unavailable, fmt::format("qsub printed no job id but '{}'", answer.out));
}

model::Command PbsDialect::find(const AllocationRequest& request) const {
  return asking({"qselect", "-N", job_name(request)});
}

Result<std::vector<std::string>> PbsDialect::found(const AllocationRequest&,
                                                   const proc::CommandResult& answer) const {
  if (!answer.succeeded()) return complaint("qselect", answer);
  return words_of(answer.out);
}

// As text: with -F json, qstat shows only the first of several jobs.
model::Command PbsDialect::poll(const std::vector<std::string>& job_ids) const {
  std::vector<std::string> argv{"qstat", "-f"};
  argv.insert(argv.end(), job_ids.begin(), job_ids.end());
  return asking(argv);
}

Result<std::vector<host::JobStatus>> PbsDialect::polled(const proc::CommandResult& answer) const {
  return jobs_of(answer);
}

model::Command PbsDialect::history(const std::vector<std::string>& job_ids) const {
  std::vector<std::string> argv{"qstat", "-x", "-f"};
  argv.insert(argv.end(), job_ids.begin(), job_ids.end());
  return asking(argv);
}

Result<std::vector<host::JobStatus>> PbsDialect::remembered(const proc::CommandResult& answer) const {
  return jobs_of(answer);
}

model::Command PbsDialect::cancel(const std::string& job_id) const {
  return asking({"qdel", job_id});
}

Result<void> PbsDialect::cancelled(const proc::CommandResult& answer) const {
  if (answer.succeeded() || is_unknown_job(answer)) return ok();
  return complaint("qdel", answer);
}

model::Command PbsDialect::ask_for_limits() const {
  return {};
}

Result<void> PbsDialect::may_release_again(const proc::CommandResult&) const {
  return ok();
}

model::Command PbsDialect::release(const std::string& job_id, const std::vector<std::string>&,
                                   const std::vector<std::string>& dropped) const {
  std::vector<std::string> argv{"pbs_release_nodes", "-j", job_id};
  argv.insert(argv.end(), dropped.begin(), dropped.end());
  return asking(argv);
}

Result<void> PbsDialect::released(const proc::CommandResult& answer) const {
  return answer.succeeded() ? ok() : Result<void>(complaint("pbs_release_nodes", answer));
}

// Works inside the job only, where the head agent is; PBS has nothing for the login node.  A task on each
// node, of which that on the right one does something: pbs_tmrsh knows nodes by their place in $PBS_NODEFILE,
// which the first node's tasks don't have, and which on the others still lists what has been given back.
// pbsdsh does not wait for the tasks (-o), and not for ever for a lost node (KILL: upon TERM it would end the
// tasks).
model::Command PbsDialect::run_on(const std::string&, const std::string& node,
                                  const std::vector<std::string>& argv) const {
  model::Command command;
  command.argv = {"timeout",
                  "--signal=KILL",
                  "20",
                  "pbsdsh",
                  "-o",
                  "--",
                  "/bin/sh",
                  "-c",
                  "here=$(hostname); [ \"${here%%.*}\" = \"$0\" ] || exit 0; exec \"$@\"",
                  node.substr(0, node.find('.'))};
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  command.directory = "/";
  return command;
}

}  // namespace pilot::adaptors::pbs
