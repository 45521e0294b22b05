// The script of a batch job that runs a pilot's node agents: the same for every batch system but for the
// parts in JobScript.
//
// The one file plays three roles.  Submitted, it writes down the nodes (allocations/A.nodes) and runs
// itself as `node` once on each; when the job is about to end it runs itself as `end` on each; at its end
// (called as `leave`: at once, from within the job); and at its end
// it writes allocations/A.exit ("JOB CODE SECONDS CAUSE").  As `node` it finds out what the node is
// (address, cores, memory, scratch), keeps the agent running, and cleans up; it holds a lock for as long,
// so that starting it twice does no harm.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/plugin/batch_adaptor.hpp"

namespace pilot::adaptors::host {

// A line by which a script tells the batch system what it wants.  The name is for `skip:`.
struct Directive {
  std::string name;  // "mem"
  std::string text;  // "#SBATCH --mem=0"
  bool operator==(const Directive&) const = default;
};

// All but the directives is shell text; "$@" stands for the command to run.
struct JobScript {
  std::vector<Directive> directives;
  std::string prefix;        // of a directive: "#SBATCH "
  std::string job_id;        // "$SLURM_JOB_ID"
  std::string rank;          // of the node on which on_each_node runs the command: "$SLURM_PROCID"
  std::string node_name;     // expands to this node's name in list_nodes, or to nothing
  std::string list_nodes;    // prints their names, one a line, in order of their ranks
  std::string node_memory;   // prints lines "NODE BYTES": what the job has there, as far as that is known
  std::string cores;         // expands to the cores that the job has on this node, or to nothing
  std::string submit_host;   // expands to the name of the host where the job was submitted
  std::string scratch;       // expands to the system's own folder for this job on a node, or to nothing
  std::string topology;      // expands to this node's way from the top switch, "top.leaf.node", or to nothing
  std::string on_each_node;  // runs "$@" once on each node and ends when all have ended
  std::string also_on_each_node;          // the same while on_each_node runs
  bool carries_environment = false;       // files take the environment to the job and on to its tasks
  bool removes_tmpdir = false;            // TMPDIR is the job's and goes from each node that it gives back
  bool writes_own_output = false;         // the system would show it only when the job has ended
  std::optional<Duration> warning_after;  // where the system sends no USR1 before the end
};

// Options that every batch system has because the script is ours: prologue, network, extra, skip.
std::vector<plugin::OptionDoc> script_options();

std::vector<std::string> skipped_directives(const model::PilotSpec& spec);
// The words of `extra`, for a command that takes them in place of a script; `prefix`: what may begin a line.
std::vector<std::string> extra_words(const model::PilotSpec& spec, std::string_view prefix);

// Errors: usage, naming the option.  `directives`: the names that `skip` may have.
Result<void> check_script_options(const model::PilotSpec& spec,
                                  const std::vector<std::string_view>& directives);

std::string render_job_script(const plugin::AllocationRequest& request, const JobScript& parts);

// What stands in the pilot's folder for an allocation.
std::filesystem::path script_file(const plugin::AllocationRequest& request);
std::filesystem::path environment_file(const plugin::AllocationRequest& request);
std::filesystem::path nodes_file(const plugin::AllocationRequest& request);
std::filesystem::path exit_file(const plugin::AllocationRequest& request);
std::filesystem::path output_file(const plugin::AllocationRequest& request);  // of the job

// Shell text that sets, elsewhere, what the entries (NAME=VALUE) of an environment say, functions of bash
// too. Without what belongs to one host or one job.
std::string environment_text(const std::vector<std::string>& entries);

// What a finished script left behind in exit_file().
struct ExitRecord {
  std::string job_id;
  int code = 0;
  WallTime at{};
  std::string cause;  // "end", "told to end (TERM)", "time"
  bool operator==(const ExitRecord&) const = default;
};
std::optional<ExitRecord> parse_exit_record(std::string_view text);
// None: the job has not ended by itself, or the file is another job's.
std::optional<ExitRecord> read_exit_record(const plugin::AllocationRequest& request,
                                           const std::string& job_id);

// The value of an option; empty if it is not given.
std::string option(const model::PilotSpec& spec, const std::string& name);

}  // namespace pilot::adaptors::host
