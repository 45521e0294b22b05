// What a node agent needs to take up its work after it was killed: PILOT_DIR/nodes/NODE.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/agent/service_record.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/message.hpp"

namespace pilot::agent {

struct NodeRecord {
  std::string pilot_id;
  std::vector<std::uint16_t> free_ports;             // as found when the node joined
  std::uint64_t last_report = 0;                     // number of the newest report
  std::vector<model::ServiceReport> unacknowledged;  // the head may not have them in its log yet
  std::vector<ServiceRecord> services;
  std::int64_t joined_ns = 0;  // when the node joined the pilot first, by the steady clock of this boot
  std::string boot_id;
  std::optional<ServiceRecord> head;  // the head agent, on the node that keeps it running
  bool operator==(const NodeRecord&) const = default;
};

// JSON text and back.  Errors: failed, with what is wrong.
std::string encode(const NodeRecord& record);
Result<NodeRecord> decode_node_record(std::string_view text);

}  // namespace pilot::agent
