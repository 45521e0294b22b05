// What gives nodes: a batch system, or this machine (`local`).
//
// An allocation runs one node agent per node:
//   pilot-agent node --pilot-dir DIR --allocation a0 --rank R [--address A] ...
// The agent of rank 0 of the base allocation also keeps the head agent running.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/model/states.hpp"
#include "pilot/plugin/allocation_request.hpp"
#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::plugin {

struct AllocationStatus {
  std::string job_id;
  model::AllocationPhase phase = model::AllocationPhase::unknown;
  std::string reason;               // why it waits or how it ended, in the system's words
  std::optional<WallTime> ends_at;  // when its wall time is over
};

class BatchAdaptor {
 public:
  virtual ~BatchAdaptor() = default;

  virtual std::string_view name() const = 0;     // "local", "slurm"
  virtual std::string_view summary() const = 0;  // one line
  virtual std::vector<OptionDoc> options() const = 0;

  // Refuses what can never run.  Errors: usage.
  virtual Result<void> check(const model::PilotSpec& spec) const = 0;

  // Asks the system whether it would take this and could ever run it; submits nothing.  What was checked, and
  // what the system said, in sentences.  Errors: usage (it would not), unavailable.
  virtual Result<std::vector<std::string>> validate(const AllocationRequest& request) = 0;

  // What would be submitted, for --dry-run; contacts nothing.
  virtual Result<std::string> render(const AllocationRequest& request) const = 0;

  // Asks for the nodes and returns the system's name for the job.  Errors: usage (refused), unavailable.
  virtual Result<std::string> submit(const AllocationRequest& request) = 0;

  // The system's name for what was submitted for this request, since its submitter may have died before it
  // could say so, or never have heard; it may be over by now.  Empty when there is none, as by default.
  // Errors: unavailable, timed_out.
  virtual Result<std::string> job_of(const AllocationRequest& request);

  // One status per id, in the ids' order; a job that the system does not know is `unknown`, never `ended`.
  virtual Result<std::vector<AllocationStatus>> poll(const AllocationRequest& request,
                                                     const std::vector<std::string>& job_ids) = 0;

  // Ends the job and everything it runs; a job that has ended is success.  Without an id: what was submitted
  // for the request though nobody was told.
  virtual Result<void> cancel(const AllocationRequest& request, const std::string& job_id) = 0;

  // Whether some nodes of a running job can be given back while it keeps the others.  `again`: others of it
  // were given back before.  Errors: usage (never, with the system's reason: its first node, a second
  // time), unavailable.
  virtual Result<void> can_release(const AllocationRequest& request, const std::string& job_id,
                                   const std::vector<int>& ranks, bool again) = 0;

  // Gives them back; their agents have ended, and what else runs there is killed.  Nodes that the job does
  // not hold any more are success.  Errors: as above; not_found (the job is over); failed.
  virtual Result<void> release(const AllocationRequest& request, const std::string& job_id,
                               const std::vector<int>& ranks) = 0;

  // Whether nodes can become part of the running job `request.joins_job`.  Errors: usage (never, with the
  // system's reason), unavailable.
  virtual Result<void> can_grow(const AllocationRequest& request);

  // Asks for them; returns the system's name for the job that asks.  Errors: as above.
  virtual Result<std::string> ask_to_grow(const AllocationRequest& request);

  // Takes what ask_to_grow() was given over into the job, as soon as there is something; to be called again
  // until it has.  `asked` may be empty: whatever asks for this request.  The status is the asking job's, and
  // once its nodes are part of the other job, running, with that one's id.  An error but `unavailable`: it
  // can't be, and nothing asks any more.
  virtual Result<AllocationStatus> grow(const AllocationRequest& request, const std::string& asked);

  // Starts the agent of one node again after it died.  Starting one that runs is success.
  // Errors: not_found (the job is over), unavailable.
  virtual Result<void> launch_agent(const AllocationRequest& request, const std::string& job_id,
                                    int rank) = 0;
};

}  // namespace pilot::plugin
