// A node as its agent describes it when it registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pilot/base/units.hpp"
#include "pilot/model/process_identity.hpp"

namespace pilot::model {

struct NodeInfo {
  std::string id;          // "node-1", "node-2" ...: unique in the pilot, never used again
  std::string allocation;  // "a0" is the base, "a1" ... its extensions
  int rank = 0;            // 0 ... n-1 within the allocation
  std::string host;        // host name
  std::string address;     // where its services listen, and are reached by the other nodes
  std::string rack;        // what fails with it: its switch; empty: the batch system does not tell
  int cores = 0;           // its share
  Bytes memory;            // its share
  std::string scratch;     // this node's own folder for data, removed when the pilot stops
  std::vector<std::uint16_t> free_ports;  // found free at registration, for the plan to choose from
  ProcessIdentity agent;
  std::string version;  // of the agent's program
  bool operator==(const NodeInfo&) const = default;
};

}  // namespace pilot::model
