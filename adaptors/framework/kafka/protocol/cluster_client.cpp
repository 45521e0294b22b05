#include "adaptors/framework/kafka/protocol/cluster_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace pilot::adaptors::kafka::protocol {

namespace {

// A broker that hangs must not use up the time of the ones that would answer.
constexpr Duration most_per_broker = std::chrono::seconds(10);

// A broker that is listed and refuses connections is most often on its way back: one that stays away is
// fenced, and no longer listed, after some seconds.
constexpr Duration restart_patience = std::chrono::seconds(15);
constexpr Duration retry_pause = std::chrono::milliseconds(200);

int milliseconds(const Deadline& deadline) {
  const auto left = std::min<Duration>(deadline.left(), most_per_broker);
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(left).count());
}

Result<ConfigAnswer> only(std::vector<ConfigAnswer> answers, int broker) {
  if (answers.size() != 1)
    return make_error(ErrorCode::failed, fmt::format("broker {} did not tell its settings", broker));
  if (answers[0].error != 0)
    return make_error(ErrorCode::failed, fmt::format("broker {}: {}", broker, answers[0].said));
  return std::move(answers[0]);
}

}  // namespace

Result<std::string> ClusterClient::ask_at(const Endpoint& endpoint, const Api& api, const std::string& body,
                                          const Deadline& deadline) {
  const auto key = endpoint.text();
  Error last;
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto at = connections_.find(key);
    const bool fresh = at == connections_.end();
    const Deadline limit(system_clock(), std::min<Duration>(deadline.left(), most_per_broker));
    if (fresh) {
      PILOT_TRY(auto connection, Connection::open(endpoint, access_, limit));
      at = connections_.emplace(key, std::move(connection)).first;
    }
    auto answer = at->second.call(api, body, limit);
    if (answer.has_value()) return answer;
    last = answer.error();
    connections_.erase(at);
    // An idle connection that the broker closed says nothing about the broker.
    if (fresh || last.code != ErrorCode::unavailable) break;
  }
  return last;
}

std::vector<Endpoint> ClusterClient::endpoints() const {
  std::vector<Endpoint> all;
  for (const auto& [id, endpoint] : brokers_) all.push_back(endpoint);
  for (const auto& endpoint : access_.bootstrap) {
    if (std::none_of(all.begin(), all.end(), [&](auto& known) { return known.text() == endpoint.text(); }))
      all.push_back(endpoint);
  }
  std::stable_partition(all.begin(), all.end(), [&](auto& endpoint) { return endpoint.text() == last_; });
  return all;
}

Result<std::string> ClusterClient::ask_any(const Api& api, const std::string& body,
                                           const Deadline& deadline) {
  Error last = make_error(ErrorCode::timed_out, "no time left to ask a broker");
  for (const auto& endpoint : endpoints()) {
    if (deadline.passed()) break;
    auto answer = ask_at(endpoint, api, body, deadline);
    if (answer.has_value()) {
      last_ = endpoint.text();
      return answer;
    }
    last = answer.error();
    if (last.code != ErrorCode::unavailable && last.code != ErrorCode::timed_out) break;
  }
  return last;
}

Result<std::string> ClusterClient::ask(int broker, const Api& api, const std::string& body,
                                       const Deadline& deadline) {
  const Deadline limit(system_clock(), std::min<Duration>(deadline.left(), restart_patience));
  if (brokers_.count(broker) == 0) PILOT_TRY_VOID(metadata(deadline));
  while (true) {
    const auto at = brokers_.find(broker);
    if (at == brokers_.end())
      return make_error(ErrorCode::unavailable, fmt::format("broker {} is not up", broker));
    auto answer = ask_at(at->second, api, body, deadline);
    if (answer.has_value()) return answer;
    if (answer.error().code != ErrorCode::unavailable || limit.passed())
      return answer.error().while_doing(fmt::format("broker {}", broker));
    std::this_thread::sleep_for(std::min<Duration>(retry_pause, limit.left()));
    PILOT_TRY_VOID(metadata(deadline));
  }
}

Result<ClusterState> ClusterClient::metadata(const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask_any(metadata_api, metadata_request(), deadline));
  PILOT_TRY(auto state, parse_metadata(answer));
  brokers_.clear();
  for (const auto& broker : state.brokers) brokers_[broker.id] = {broker.host, broker.port};
  return state;
}

Result<std::vector<LogDir>> ClusterClient::log_dirs(int broker, const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask(broker, describe_log_dirs_api, describe_log_dirs_request(), deadline));
  return parse_describe_log_dirs(answer);
}

Result<std::vector<PartitionResult>> ClusterClient::alter_log_dirs(int broker,
                                                                   const std::vector<ReplicaPlace>& places,
                                                                   const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask(broker, alter_log_dirs_api, alter_log_dirs_request(places), deadline));
  return parse_alter_log_dirs(answer);
}

Result<std::vector<PartitionResult>> ClusterClient::alter_reassignments(
    const std::vector<Reassignment>& wishes, const Deadline& deadline) {
  PILOT_TRY(const auto answer,
            ask_any(alter_reassignments_api, alter_reassignments_request(wishes, milliseconds(deadline)),
                    deadline));
  return parse_alter_reassignments(answer);
}

Result<std::vector<Ongoing>> ClusterClient::reassignments(const Deadline& deadline) {
  PILOT_TRY(const auto answer,
            ask_any(list_reassignments_api, list_reassignments_request(milliseconds(deadline)), deadline));
  return parse_list_reassignments(answer);
}

Result<std::vector<PartitionResult>> ClusterClient::elect_preferred(
    const std::vector<PartitionName>& partitions, const Deadline& deadline) {
  PILOT_TRY(
      const auto answer,
      ask_any(elect_leaders_api, elect_preferred_request(partitions, milliseconds(deadline)), deadline));
  return parse_elect_leaders(answer);
}

Result<void> ClusterClient::alter_topics(const std::vector<ConfigChange>& changes, const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask_any(alter_configs_api, alter_configs_request(changes), deadline));
  return parse_alter_configs(answer);
}

Result<std::vector<ConfigAnswer>> ClusterClient::describe_topics(const std::vector<ConfigQuery>& queries,
                                                                 const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask_any(describe_configs_api, describe_configs_request(queries), deadline));
  return parse_describe_configs(answer);
}

Result<void> ClusterClient::alter_broker(int broker, const ConfigChange& change, const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask(broker, alter_configs_api, alter_configs_request({change}), deadline));
  return parse_alter_configs(answer);
}

Result<ConfigAnswer> ClusterClient::describe_broker(int broker, const std::vector<std::string>& keys,
                                                    const Deadline& deadline) {
  const auto body = describe_configs_request({{Resource::broker, std::to_string(broker), keys}});
  PILOT_TRY(const auto answer, ask(broker, describe_configs_api, body, deadline));
  PILOT_TRY(auto answers, parse_describe_configs(answer));
  return only(std::move(answers), broker);
}

Result<void> ClusterClient::unregister(int broker, const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask_any(unregister_broker_api, unregister_broker_request(broker), deadline));
  return parse_unregister_broker(answer);
}

Result<Duration> ClusterClient::round_trip(int broker, const Deadline& deadline) {
  const auto before = system_clock().steady();
  PILOT_TRY_VOID(ask(broker, api_versions_api, api_versions_request(), deadline));
  return system_clock().steady() - before;
}

Result<std::vector<Voter>> ClusterClient::voters(const Deadline& deadline) {
  PILOT_TRY(const auto answer, ask_any(describe_quorum_api, describe_quorum_request(), deadline));
  return parse_describe_quorum(answer);
}

Result<void> ClusterClient::remove_voter(int controller, const Deadline& deadline) {
  PILOT_TRY(const auto there, voters(deadline));
  for (const auto& voter : there) {
    if (voter.id != controller) continue;
    PILOT_TRY(const auto answer, ask_any(remove_voter_api, remove_voter_request(voter), deadline));
    PILOT_TRY_VOID(parse_remove_voter(answer));
  }
  return ok();
}

}  // namespace pilot::adaptors::kafka::protocol
