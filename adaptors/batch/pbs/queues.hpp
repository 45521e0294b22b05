// What PBS says of its queues and nodes, and what could never run there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/plugin/allocation_request.hpp"

namespace pilot::adaptors::pbs {

struct Queue {
  std::string name;
  bool takes_jobs = true;
  std::optional<Duration> longest;
  std::optional<int> most_nodes;
  bool operator==(const Queue&) const = default;
};

struct Node {
  std::string host;
  int cores = 0;
  Bytes memory;
  bool operator==(const Node&) const = default;
};

// Of `qstat -Qf -F json` and `pbsnodes -av -F json`; nothing where the text makes no sense.
std::vector<Queue> parse_queues(std::string_view json);
std::vector<Node> parse_nodes(std::string_view json);  // one per host

// PBS takes jobs that want more nodes, cores or memory than there are and lets them wait for ever.  A queue
// that is not listed is PBS's to refuse.  Errors: usage, with the numbers.
Result<void> fits_queue(const plugin::AllocationRequest& request, const std::vector<Queue>& queues);
Result<void> fits_nodes(const plugin::AllocationRequest& request, const std::vector<Node>& nodes);

}  // namespace pilot::adaptors::pbs
