// More nodes for a pilot that runs, and some of them given back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pilot/core/running_pilot.hpp"

namespace pilot::core {

struct ExtendOptions {
  int nodes = 1;
  std::optional<Duration> walltime;  // of the new nodes; else as long as the base was asked for
  bool move = true;                  // data move onto the new nodes' services
  bool in_place = false;             // they become part of the base's job, and end with it
  std::string throttle;              // of moving data: "50MB/s", "none"; empty or "auto": as measured
};

// Asks the batch system for the nodes; returns the extension's name ("a1").  Errors: usage (refused by the
// batch system, no nodes), failed (the pilot is not ready), unavailable.
Result<std::string> extend_pilot(const Context& context, RunningPilot& pilot, const ExtendOptions& options);

// Waits until the extension's nodes are part of every cluster and data have moved.  False: interrupted.
// Errors: failed (the job ended, its services could not be started), partial (data did not move), timed_out.
Result<bool> wait_for_extension(const Context& context, RunningPilot& pilot, const std::string& allocation,
                                std::optional<Duration> timeout);

struct ShrinkOptions {
  int count = 0;  // nodes of the head's choice, beside those that are named
  std::vector<std::string> nodes;
  std::string allocation;  // all of its nodes
  std::string throttle;    // as above
};

// Begins to give nodes back; returns their names, none when a job that waited for them was taken back.
// Errors: usage, not_found, failed.
Result<std::vector<std::string>> shrink_pilot(const Context& context, RunningPilot& pilot,
                                              const ShrinkOptions& options);

// Waits until the nodes are given back.  False: interrupted.  Errors: partial (they stay, with the reason),
// timed_out.
Result<bool> wait_for_shrink(const Context& context, RunningPilot& pilot,
                             const std::vector<std::string>& nodes, std::optional<Duration> timeout);

}  // namespace pilot::core
