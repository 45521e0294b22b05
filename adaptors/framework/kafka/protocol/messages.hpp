// The requests that this program makes and their answers, byte for byte.  Fields and versions follow the
// files common/message/*.json in Kafka's kafka-clients jar (looked up for 4.3.1); each version is the oldest
// that has the fields needed, all are spoken by Kafka 3.9 to 4.3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka::protocol {

struct Api {
  std::int16_t key;
  std::int16_t version;
  const char* name;
  bool flexible;  // compact types, and tagged fields in the headers
};

inline constexpr Api metadata_api{3, 9, "Metadata", true};
inline constexpr Api sasl_handshake_api{17, 1, "SaslHandshake", false};
inline constexpr Api api_versions_api{18, 0, "ApiVersions", false};
inline constexpr Api describe_configs_api{32, 4, "DescribeConfigs", true};
inline constexpr Api alter_log_dirs_api{34, 2, "AlterReplicaLogDirs", true};
inline constexpr Api describe_log_dirs_api{35, 4, "DescribeLogDirs", true};
inline constexpr Api sasl_authenticate_api{36, 1, "SaslAuthenticate", false};
inline constexpr Api elect_leaders_api{43, 2, "ElectLeaders", true};
inline constexpr Api alter_configs_api{44, 1, "IncrementalAlterConfigs", true};
inline constexpr Api alter_reassignments_api{45, 0, "AlterPartitionReassignments", true};
inline constexpr Api list_reassignments_api{46, 0, "ListPartitionReassignments", true};
inline constexpr Api describe_quorum_api{55, 2, "DescribeQuorum", true};
inline constexpr Api unregister_broker_api{64, 0, "UnregisterBroker", true};
inline constexpr Api remove_voter_api{81, 0, "RemoveRaftVoter", true};

// Length, header and body, ready to be sent.
std::string framed(const Api& api, std::int32_t correlation, std::string_view client, std::string_view body);

// The body of an answer (without its length).  Errors: failed, when the header is cut off or of another
// request.
Result<std::string_view> unframed(const Api& api, std::int32_t correlation, std::string_view answer);

struct VersionRange {
  std::int16_t key = 0;
  std::int16_t least = 0;
  std::int16_t most = 0;
};

struct BrokerNode {
  int id = 0;
  std::string host;
  int port = 0;
  std::string rack;  // empty: unknown
};

struct PartitionState {
  int index = 0;
  int leader = -1;
  std::vector<int> replicas;
  std::vector<int> in_sync;
};

struct TopicState {
  std::string name;
  std::int16_t error = 0;
  bool internal = false;
  std::vector<PartitionState> partitions;
};

struct ClusterState {
  std::vector<BrokerNode> brokers;  // those that are up
  std::vector<TopicState> topics;
};

struct ReplicaSize {
  std::string topic;
  int partition = 0;
  std::int64_t bytes = 0;
  // A copy that is being made in this directory and then replaces the replica, which is in another one.
  bool future = false;
};

struct LogDir {
  std::int16_t error = 0;
  std::string path;
  std::int64_t total_bytes = -1;  // of the volume; -1: unknown
  std::int64_t usable_bytes = -1;
  std::vector<ReplicaSize> replicas;
};

struct ReplicaPlace {
  std::string topic;
  int partition = 0;
  std::string path;  // of the log directory it is to be in
};

struct Reassignment {
  std::string topic;
  int partition = 0;
  std::optional<std::vector<int>> replicas;  // none: cancel the one under way
};

struct Ongoing {
  std::string topic;
  int partition = 0;
  std::vector<int> replicas;  // all there are now; without `removing`, the list at the end
  std::vector<int> adding;
  std::vector<int> removing;
};

struct PartitionResult {
  std::string topic;
  int partition = 0;
  std::int16_t error = 0;
  std::string said;  // by the broker; may be empty
};

struct PartitionName {
  std::string topic;
  int partition = 0;
};

enum class Resource : std::int8_t { topic = 2, broker = 4 };

struct ConfigChange {
  Resource resource = Resource::topic;
  std::string name;
  std::vector<std::pair<std::string, std::optional<std::string>>> settings;  // none: back to the default
};

struct ConfigQuery {
  Resource resource = Resource::topic;
  std::string name;
  std::vector<std::string> keys;
};

struct Setting {
  std::string key;
  std::string value;
  bool own = false;  // set for this very topic or broker, not inherited or a default
};

struct ConfigAnswer {
  Resource resource = Resource::topic;
  std::string name;
  std::int16_t error = 0;
  std::string said;
  std::vector<Setting> settings;
};

// A controller that votes in the quorum, by the data it votes with.
struct Voter {
  int id = 0;
  std::string directory;  // 16 bytes
  bool active = false;    // it leads, or has asked the leader in the last ten seconds
  bool operator==(const Voter&) const = default;
};

// Bodies of requests.  An answer's top-level error is an Error of code failed; times in ms.
std::string api_versions_request();
std::string sasl_handshake_request(std::string_view mechanism);
std::string sasl_authenticate_request(std::string_view bytes);
std::string metadata_request();           // of all topics
std::string describe_log_dirs_request();  // all replicas
std::string alter_log_dirs_request(const std::vector<ReplicaPlace>& places);
std::string alter_reassignments_request(const std::vector<Reassignment>& wishes, int timeout);
std::string list_reassignments_request(int timeout);
std::string alter_configs_request(const std::vector<ConfigChange>& changes);
std::string describe_configs_request(const std::vector<ConfigQuery>& queries);
std::string elect_preferred_request(const std::vector<PartitionName>& partitions, int timeout);
std::string unregister_broker_request(int broker);
std::string describe_quorum_request();
std::string remove_voter_request(const Voter& voter);

// Bodies of answers.  Errors: failed, when it is malformed or carries an error for the whole request.
Result<std::vector<VersionRange>> parse_api_versions(std::string_view body);
Result<void> parse_sasl_handshake(std::string_view body);     // with the mechanisms that the broker knows
Result<void> parse_sasl_authenticate(std::string_view body);  // in the broker's words
Result<ClusterState> parse_metadata(std::string_view body);
Result<std::vector<LogDir>> parse_describe_log_dirs(std::string_view body);
Result<std::vector<PartitionResult>> parse_alter_log_dirs(std::string_view body);
Result<std::vector<PartitionResult>> parse_alter_reassignments(std::string_view body);
Result<std::vector<Ongoing>> parse_list_reassignments(std::string_view body);
Result<void> parse_alter_configs(std::string_view body);  // the first one's error
Result<std::vector<ConfigAnswer>> parse_describe_configs(std::string_view body);
Result<std::vector<PartitionResult>> parse_elect_leaders(std::string_view body);
Result<void> parse_unregister_broker(std::string_view body);  // an unregistered one is success
Result<std::vector<Voter>> parse_describe_quorum(std::string_view body);
Result<void> parse_remove_voter(std::string_view body);  // one that does not vote is success

}  // namespace pilot::adaptors::kafka::protocol
