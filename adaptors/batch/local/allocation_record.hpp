// What the local resource remembers of an allocation: PILOT_DIR/allocations/a0.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"
#include "pilot/model/process_identity.hpp"

namespace pilot::adaptors::local {

struct NodeRecord {
  int rank = 0;
  std::string address;
  bool reserved = false;  // the address is one of its own, held by its agent
  int cores = 0;
  Bytes memory;
  std::string scratch;
  model::ProcessIdentity agent;  // of the last one that was started
  bool given_back = false;
  bool operator==(const NodeRecord&) const = default;
};

struct AllocationRecord {
  std::string job_id;
  std::string host;
  std::string boot_id;
  std::string scratch;           // the folder above those of the nodes
  std::int64_t submitted_s = 0;  // seconds since 1970
  bool cancelled = false;
  std::vector<NodeRecord> nodes;
  bool operator==(const AllocationRecord&) const = default;
};

std::filesystem::path record_path(const std::filesystem::path& pilot_dir, const std::string& allocation);

// Errors: not_found; failed (damaged).
Result<AllocationRecord> read_record(const std::filesystem::path& path);
Result<void> write_record(const std::filesystem::path& path, const AllocationRecord& record);

}  // namespace pilot::adaptors::local
