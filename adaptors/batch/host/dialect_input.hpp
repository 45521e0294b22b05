// For tests of dialects: what they are asked for, and what they made of a tool's answer on one line.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adaptors/batch/host/batch_dialect.hpp"
#include "adaptors/batch/host/recording.hpp"

namespace pilot::adaptors::host::test {

// Two nodes for a pilot 'demo'.
inline plugin::AllocationRequest request() {
  plugin::AllocationRequest made;
  made.pilot_id = "0123456789";
  made.allocation = "a0";
  made.nodes = 2;
  made.spec.name = "demo";
  made.pilot_dir = "/home/u/pilots/demo";
  made.agent_program = "/opt/bin/pilot-agent";
  return made;
}

// A file of tests/fixtures/SYSTEM.
inline proc::CommandResult recorded(const std::string& system, const std::string& name) {
  return recording(std::string(PILOT_SOURCE_DIR) + "/tests/fixtures/" + system + "/" + name + ".txt");
}

// By their ids; none when there was an error.
inline std::map<std::string, JobStatus> by_id(Result<std::vector<JobStatus>> jobs) {
  std::map<std::string, JobStatus> all;
  if (jobs.has_value())
    for (JobStatus& job : jobs.value()) all[job.job_id] = std::move(job);
  return all;
}

// Phase, cause and reason.
inline std::string told(const JobStatus& job) {
  const char* what = job.can_never_run ? " never" : job.ending ? " ending" : "";
  return fmt::format("{} {}{}: {}", model::to_string(job.phase), to_string(job.cause), what, job.reason);
}

}  // namespace pilot::adaptors::host::test
