#include "adaptors/framework/kafka/rebalance/throttle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace pilot::adaptors::kafka::rebalance {

namespace {

using protocol::ConfigChange;
using protocol::Resource;

// All that Kafka knows are taken off.
const std::vector<std::string> broker_keys{"leader.replication.throttled.rate",
                                           "follower.replication.throttled.rate",
                                           "replica.alter.log.dirs.io.max.bytes.per.second"};
const std::vector<std::string> topic_keys{"leader.replication.throttled.replicas",
                                          "follower.replication.throttled.replicas"};
constexpr auto cordon_key = "cordoned.log.dirs";

// Keeps a request, and the answer, to a few 100 KB.
constexpr std::size_t topics_at_once = 500;

ConfigChange removal(Resource resource, const std::string& name, const std::vector<std::string>& keys) {
  ConfigChange change{resource, name, {}};
  for (const auto& key : keys) change.settings.emplace_back(key, std::nullopt);
  return change;
}

Result<void> alter_in_parts(protocol::Administrator& cluster, std::vector<ConfigChange> changes,
                            const Deadline& deadline) {
  for (std::size_t begin = 0; begin < changes.size(); begin += topics_at_once) {
    const auto end = std::min(changes.size(), begin + topics_at_once);
    const std::vector<ConfigChange> part(changes.begin() + static_cast<std::ptrdiff_t>(begin),
                                         changes.begin() + static_cast<std::ptrdiff_t>(end));
    PILOT_TRY_VOID(cluster.alter_topics(part, deadline));
  }
  return ok();
}

bool has_own(const std::vector<protocol::Setting>& settings) {
  return std::any_of(settings.begin(), settings.end(), [](const auto& setting) { return setting.own; });
}

Result<std::set<std::string>> throttled_topics(protocol::Administrator& cluster,
                                               const std::vector<protocol::TopicState>& topics,
                                               const Deadline& deadline) {
  std::set<std::string> found;
  for (std::size_t begin = 0; begin < topics.size(); begin += topics_at_once) {
    std::vector<protocol::ConfigQuery> queries;
    for (std::size_t i = begin; i < std::min(topics.size(), begin + topics_at_once); ++i)
      queries.push_back({Resource::topic, topics[i].name, topic_keys});
    PILOT_TRY(const auto answers, cluster.describe_topics(queries, deadline));
    for (const auto& answer : answers) {
      if (has_own(answer.settings)) found.insert(answer.name);
    }
  }
  return found;
}

struct Released {
  std::vector<std::string> found;
  std::optional<Error> failed;  // a broker that did not answer
};

// One look over everything; takes off what it finds.  A broker that has just gone is listed for a while: the
// others are released all the same.
Result<Released> release_once(protocol::Administrator& cluster, const Deadline& deadline) {
  Released once;
  PILOT_TRY(const auto state, cluster.metadata(deadline));
  for (const auto& broker : state.brokers) {
    const auto answer = cluster.describe_broker(broker.id, broker_keys, deadline);
    if (answer.has_value() && !has_own(answer.value().settings)) continue;
    const auto done =
        answer.has_value() ? release_broker(cluster, broker.id, deadline) : Result<void>(answer.error());
    if (done.has_error())
      once.failed = done.error();
    else
      once.found.push_back(fmt::format("broker {}", broker.id));
  }
  PILOT_TRY(const auto topics, throttled_topics(cluster, state.topics, deadline));
  for (const auto& topic : topics) once.found.push_back(fmt::format("topic '{}'", topic));
  PILOT_TRY_VOID(release_topics(cluster, topics, deadline));
  return once;
}

}  // namespace

Result<void> throttle_topics(protocol::Administrator& cluster, const std::vector<reassign::Move>& moves,
                             const Deadline& deadline) {
  std::map<std::string, std::vector<std::string>> leaders;  // by topic
  for (const auto& move : moves) {
    if (move.added().empty()) continue;
    for (const int id : move.from) leaders[move.topic].push_back(fmt::format("{}:{}", move.index, id));
  }
  std::vector<ConfigChange> changes;
  for (const auto& [topic, list] : leaders)
    changes.push_back({Resource::topic, topic, {{topic_keys[0], fmt::format("{}", fmt::join(list, ","))}}});
  return alter_in_parts(cluster, std::move(changes), deadline);
}

Result<void> throttle_broker(protocol::Administrator& cluster, int broker, BrokerRates rates,
                             const Deadline& deadline) {
  const ConfigChange change{
      Resource::broker,
      std::to_string(broker),
      {{broker_keys[0], std::to_string(rates.send)}, {broker_keys[2], std::to_string(rates.copy)}}};
  return cluster.alter_broker(broker, change, deadline);
}

Result<void> release_broker(protocol::Administrator& cluster, int broker, const Deadline& deadline) {
  return cluster.alter_broker(broker, removal(Resource::broker, std::to_string(broker), broker_keys),
                              deadline);
}

Result<void> release_topics(protocol::Administrator& cluster, const std::set<std::string>& topics,
                            const Deadline& deadline) {
  std::vector<ConfigChange> changes;
  for (const auto& topic : topics) changes.push_back(removal(Resource::topic, topic, topic_keys));
  return alter_in_parts(cluster, std::move(changes), deadline);
}

Result<int> release_all(protocol::Administrator& cluster, const Deadline& deadline,
                        const std::function<void()>& wait) {
  std::set<std::string> released;
  while (true) {
    PILOT_TRY(const auto once, release_once(cluster, deadline));
    if (once.found.empty() && !once.failed) return static_cast<int>(released.size());
    released.insert(once.found.begin(), once.found.end());
    if (deadline.passed()) {
      if (once.found.empty()) return *once.failed;
      return make_error(ErrorCode::timed_out,
                        fmt::format("throttles are still set on {}", fmt::join(once.found, ", ")));
    }
    wait();
  }
}

Result<bool> cordon(protocol::Administrator& cluster, int broker, bool on, const Deadline& deadline) {
  PILOT_TRY(const auto answer, cluster.describe_broker(broker, {cordon_key}, deadline));
  if (answer.settings.empty()) return false;
  if (has_own(answer.settings) == on) return true;
  ConfigChange change{Resource::broker, std::to_string(broker), {{cordon_key, std::nullopt}}};
  if (on) change.settings[0].second = "*";
  PILOT_TRY_VOID(cluster.alter_broker(broker, change, deadline));
  return true;
}

}  // namespace pilot::adaptors::kafka::rebalance
