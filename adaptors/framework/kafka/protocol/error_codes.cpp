#include "adaptors/framework/kafka/protocol/error_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pilot::adaptors::kafka::protocol {

namespace {

struct Known {
  std::int16_t code;
  const char* name;
  const char* words;
  bool passes;
};

constexpr Known known[] = {
    {-1, "UNKNOWN_SERVER_ERROR", "the broker met an error that it does not name; its log tells", false},
    {3, "UNKNOWN_TOPIC_OR_PARTITION", "there is no such topic or partition", false},
    {5, "LEADER_NOT_AVAILABLE", "the partition has no leader at the moment", true},
    {6, "NOT_LEADER_OR_FOLLOWER", "the broker holds no such replica", true},
    {7, "REQUEST_TIMED_OUT", "the controller did not answer the broker in time", true},
    {8, "BROKER_NOT_AVAILABLE", "the broker is not available", true},
    {9, "REPLICA_NOT_AVAILABLE", "the replica is not available", true},
    {13, "NETWORK_EXCEPTION", "a connection between brokers broke", true},
    {17, "INVALID_TOPIC_EXCEPTION", "the topic's name is invalid or it may not be changed", false},
    {19, "NOT_ENOUGH_REPLICAS", "fewer replicas are in sync than the topic wants", true},
    {29, "TOPIC_AUTHORIZATION_FAILED", "this user may not do that to the topic", false},
    {31, "CLUSTER_AUTHORIZATION_FAILED", "this user may not change the cluster", false},
    {33, "UNSUPPORTED_SASL_MECHANISM", "the broker does not know the SASL mechanism", false},
    {34, "ILLEGAL_SASL_STATE", "the broker wants another step of the log-in first", false},
    {35, "UNSUPPORTED_VERSION", "the broker does not speak this version of the request", false},
    {37, "INVALID_PARTITIONS", "the number of partitions is invalid", false},
    {38, "INVALID_REPLICATION_FACTOR", "there are fewer brokers than replicas", false},
    {39, "INVALID_REPLICA_ASSIGNMENT", "the list of replicas is invalid: a broker in it is not registered",
     false},
    {40, "INVALID_CONFIG", "the setting is invalid", false},
    {41, "NOT_CONTROLLER", "the controller has moved", true},
    {42, "INVALID_REQUEST", "the broker could not read the request", false},
    {44, "POLICY_VIOLATION", "the cluster's policy forbids it", false},
    {56, "KAFKA_STORAGE_ERROR", "the broker met an error of its disk", false},
    {57, "LOG_DIR_NOT_FOUND", "the broker has no such log directory", false},
    {58, "SASL_AUTHENTICATION_FAILED", "the broker refuses user name or password", false},
    {60, "REASSIGNMENT_IN_PROGRESS", "another reassignment is under way", true},
    {80, "PREFERRED_LEADER_NOT_AVAILABLE", "the preferred leader is not in sync", true},
    {83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", "no replica may become the leader", true},
    {84, "ELECTION_NOT_NEEDED", "it leads already", false},
    {85, "NO_REASSIGNMENT_IN_PROGRESS", "no reassignment is under way", false},
    {89, "THROTTLING_QUOTA_EXCEEDED", "too many changes at once for the cluster's quota", true},
    {102, "BROKER_ID_NOT_REGISTERED", "no broker with this id is registered", false},
    {116, "UNKNOWN_CONTROLLER_ID", "no controller with this id is registered", false},
};

const Known* find(std::int16_t code) {
  const auto* at =
      std::find_if(std::begin(known), std::end(known), [&](const Known& k) { return k.code == code; });
  return at == std::end(known) ? nullptr : at;
}

}  // namespace

std::string sentence(std::int16_t code, const std::string& said) {
  const auto* at = find(code);
  const auto name = at == nullptr ? fmt::format("error {}", code) : at->name;
  if (!said.empty()) return fmt::format("{} ({})", said, name);
  return at == nullptr ? name : fmt::format("{} ({})", at->words, name);
}

bool passes(std::int16_t code) {
  const auto* at = find(code);
  return at != nullptr && at->passes;
}

}  // namespace pilot::adaptors::kafka::protocol
