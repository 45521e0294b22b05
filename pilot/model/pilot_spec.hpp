// What a user asks for: the wish from which a pilot is started.  Its YAML form is in
// pilot/config/README.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/units.hpp"

namespace pilot::model {

struct FrameworkSpec {
  std::string name;                            // "kafka"
  std::map<std::string, std::string> options;  // the adaptor's own settings: "controllers": "3"
  std::map<std::string, std::string> config;   // passed to the framework: "log.retention.hours": "1"
  std::map<std::string, std::string>
      reopen;  // ClusterPlan::keeps of a stopped pilot, whose data it opens again
  bool operator==(const FrameworkSpec&) const = default;
};

struct NetworkSpec {
  std::string subnet = "127.77.0.0/16";  // local: where the nodes' loopback addresses are taken from
  std::uint16_t first_port = 20000;      // services listen on free ports of this range
  std::uint16_t last_port = 29999;
  bool operator==(const NetworkSpec&) const = default;
};

struct PilotSpec {
  std::string name;
  std::string resource = "local";
  int nodes = 1;
  int cores_per_node = 0;   // 0: the node's, or on `local` the machine's divided by the nodes
  Bytes memory_per_node{};  // 0: the same
  std::optional<Duration> walltime;
  std::map<std::string, std::string> batch;  // queue, account ...: the batch adaptor's own settings
  std::string scratch;                       // node-local folder; empty: $TMPDIR or /tmp
  NetworkSpec network;
  bool encrypt = false;  // TLS between services and clients, beside the secrets that are always there
  Duration ready_timeout = std::chrono::minutes(3);
  Duration lost_after = std::chrono::minutes(2);  // then a lost node is done without and its data are rebuilt
  std::vector<FrameworkSpec> frameworks;
  bool operator==(const PilotSpec&) const = default;
};

}  // namespace pilot::model
