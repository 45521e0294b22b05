// What `sinfo` says of partitions, and what could never run there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/plugin/allocation_request.hpp"

namespace pilot::adaptors::slurm {

inline constexpr std::string_view partition_format = "--format=%P|%l|%s|%D|%c|%m";

struct Partition {
  std::string name;
  bool is_default = false;
  std::optional<Duration> longest;  // none: for ever
  std::optional<int> most_nodes;    // of one job; none: as many as there are
  int nodes = 0;                    // that there are
  int cores = 0;                    // of the largest node
  Bytes memory;                     // of the largest node
  bool operator==(const Partition&) const = default;
};

// A partition of different nodes has several lines.  Lines that make no sense are left out.
std::vector<Partition> parse_partitions(std::string_view text);

// Slurm takes jobs that are too large or too long and lets them wait for ever.  A partition that is not
// listed, or several, are Slurm's to judge.  Errors: usage, with the numbers.
Result<void> fits_partition(const plugin::AllocationRequest& request,
                            const std::vector<Partition>& partitions);

}  // namespace pilot::adaptors::slurm
