// What Kafka's StorageTool writes into an empty log directory, without a JVM: seconds become milliseconds.
// Sources: KIP-853 (voters, directory ids), KIP-630 (snapshots), "Record Batch" in Kafka's protocol guide;
// compared byte for byte with recorded output of StorageTool 4.3.1 in kraft_format_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka {

using Uuid = std::array<std::uint8_t, 16>;

// Kafka's text form: base64url without padding, 22 characters.
std::string to_string(const Uuid& uuid);

// The same name gives the same id, and different names different ones for all that matters here.
Uuid uuid_of(std::string_view name);

// The id of a pilot's cluster.
std::string cluster_id(std::string_view pilot_id);

// The id of a node's log directory.  It follows from cluster and node (and the directory's index), so
// that every controller can name the others' directories before any of them has started.
Uuid directory_uuid(std::string_view cluster, int node_id, int directory = 0);

// The content of LOG_DIR/meta.properties.
std::string meta_properties(std::string_view cluster, int node_id, const Uuid& directory);

struct Voter {
  int id = 0;
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const Voter&) const = default;
};

// "100@10.0.0.1:9093,101@10.0.0.2:9093"; an address of IPv6 stands in brackets.  Errors: usage.
Result<std::vector<Voter>> parse_voters(std::string_view text);

struct QuorumStart {
  std::string listener;  // "CONTROLLER"
  std::vector<Voter> voters;
  std::vector<Uuid> directories;  // one per voter
  std::int64_t header_ms = 0;     // times of the snapshot's three stamps, milliseconds since 1970
  std::int64_t batch_ms = 0;
  std::int64_t footer_ms = 0;
};

// The content of __cluster_metadata-0/00000000000000000000-0000000000.checkpoint: the first snapshot of
// a dynamic quorum (kraft.version 1) with these voters.
std::string quorum_snapshot(const QuorumStart& start);

// CRC-32C (Castagnoli), as in record batches.
std::uint32_t crc32c(std::string_view data);

}  // namespace pilot::adaptors::kafka
