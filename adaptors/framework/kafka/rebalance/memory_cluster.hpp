// A cluster in memory, whose replicas arrive while a test lets time pass.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/protocol/administrator.hpp"
#include "adaptors/framework/kafka/protocol/error_codes.hpp"
#include "adaptors/framework/kafka/rebalance/observation.hpp"

namespace pilot::adaptors::kafka::rebalance {

class MemoryCluster final : public protocol::Administrator {
 public:
  struct Replicas {
    std::vector<int> list;
    std::vector<int> wish;  // empty: nothing is under way
    std::int64_t bytes = 0;
    std::int64_t arrived = 0;
    int leader = -1;
  };

  void add(const std::string& topic, int index, std::vector<int> list, std::int64_t bytes) {
    const int leader = list[0];
    partitions[{topic, index}] = {std::move(list), {}, bytes, 0, leader};
  }

  // Lets bytes arrive at each moving partition and each copy; the finished ones change over.
  void pass(std::int64_t bytes) {
    pass_copies(bytes);
    for (auto& [key, partition] : partitions) {
      if (partition.wish.empty() || stuck.count(key) != 0) continue;
      partition.arrived += bytes;
      const bool any_new = std::any_of(partition.wish.begin(), partition.wish.end(),
                                       [&](int id) { return !has(partition.list, id); });
      if (any_new && partition.arrived < partition.bytes) continue;
      partition.list = std::exchange(partition.wish, {});
      if (!has(partition.list, partition.leader)) partition.leader = partition.list[0];
    }
  }

  bool holds(int broker) const {
    return std::any_of(partitions.begin(), partitions.end(),
                       [&](const auto& entry) { return has(entry.second.list, broker); });
  }
  bool copying() const { return !copies.empty(); }
  std::int64_t bytes_in(int broker, const std::string& path) const {
    std::int64_t sum = 0;
    for (const auto& [key, partition] : partitions) {
      if (has(partition.list, broker) && path_of(broker, key) == path) sum += partition.bytes;
    }
    return sum;
  }
  bool moving() const {
    return std::any_of(partitions.begin(), partitions.end(),
                       [](const auto& e) { return !e.second.wish.empty(); });
  }
  // Settings other than cordons.
  std::size_t throttles() const {
    std::size_t count = 0;
    for (const auto& [name, settings] : topic_settings) count += settings.size();
    for (const auto& [id, settings] : broker_settings)
      count += settings.size() - settings.count("cordoned.log.dirs");
    return count;
  }
  bool cordoned(int broker) const {
    const auto at = broker_settings.find(broker);
    return at != broker_settings.end() && at->second.count("cordoned.log.dirs") != 0;
  }

  Result<protocol::ClusterState> metadata(const Deadline&) override {
    if (silent) return make_error(ErrorCode::unavailable, "no broker answers");
    auto state = image();
    if (late_by > 0 && late_image) {
      state = *late_image;
      --late_by;
    }
    answered();
    return state;
  }

  // What a broker knows of the partitions when all is told to it.
  protocol::ClusterState image() const {
    protocol::ClusterState state;
    for (const int id : up) state.brokers.push_back({id, "h", 1, ""});
    for (const auto& [key, partition] : partitions) {
      if (state.topics.empty() || state.topics.back().name != key.first)
        state.topics.push_back({key.first, 0, false, {}});
      auto list = partition.list;
      for (const int id : partition.wish) {
        if (!has(list, id)) list.push_back(id);
      }
      std::vector<int> in_sync;
      std::copy_if(partition.list.begin(), partition.list.end(), std::back_inserter(in_sync),
                   [&](int id) { return up.count(id) != 0; });
      state.topics.back().partitions.push_back({key.second, partition.leader, list, in_sync});
    }
    return state;
  }

  Result<std::vector<protocol::LogDir>> log_dirs(int broker, const Deadline&) override {
    PILOT_TRY_VOID(answers(broker));
    std::vector<protocol::LogDir> told;
    for (const auto& path : folders_of(broker)) {
      protocol::LogDir folder{0, path, 1 << 30, 1 << 30, {}};
      if (offline.count(path) != 0) folder = {56, path, -1, -1, {}};
      for (const auto& [key, partition] : partitions) {
        if (path_of(broker, key) != path || folder.error != 0) continue;
        if (has(partition.list, broker)) folder.replicas.push_back({key.first, key.second, partition.bytes});
        if (!has(partition.list, broker) && has(partition.wish, broker))
          folder.replicas.push_back({key.first, key.second, std::min(partition.arrived, partition.bytes)});
      }
      for (const auto& [at, copy] : copies) {
        if (at.first == broker && copy.path == path)
          folder.replicas.push_back({at.second.first, at.second.second, copy.bytes, true});
      }
      told.push_back(std::move(folder));
    }
    return told;
  }

  Result<std::vector<protocol::PartitionResult>> alter_log_dirs(
      int broker, const std::vector<protocol::ReplicaPlace>& places, const Deadline&) override {
    std::vector<protocol::PartitionResult> results;
    for (const auto& place : places) {
      const PartitionKey key(place.topic, place.partition);
      results.push_back({place.topic, place.partition, refuse_places_with, ""});
      if (refuse_places_with != 0) continue;
      if (!has(partitions.at(key).list, broker)) {
        paths[{broker, key}] = place.path;  // remembered until it comes
        results.back().error = protocol::replica_not_available;
      } else {
        copies.erase({broker, key});
        if (path_of(broker, key) != place.path) copies[{broker, key}] = {place.path, 0};
      }
    }
    return results;
  }

  Result<std::vector<protocol::PartitionResult>> alter_reassignments(
      const std::vector<protocol::Reassignment>& wishes, const Deadline&) override {
    std::vector<protocol::PartitionResult> results;
    for (const auto& wish : wishes) {
      auto& partition = partitions.at({wish.topic, wish.partition});
      results.push_back({wish.topic, wish.partition, refuse_with, ""});
      if (!wish.replicas && partition.wish.empty())
        results.back().error = protocol::no_reassignment_in_progress;
      if (results.back().error != 0) continue;
      // What was wished before stays, as replicas that are to go.
      for (const int id : wish.replicas ? partition.wish : std::vector<int>{}) {
        if (!has(partition.list, id)) partition.list.push_back(id);
      }
      partition.wish = wish.replicas.value_or(std::vector<int>{});
      partition.arrived = 0;
      ++submitted;
    }
    if (unanswered > 0 && unanswered-- > 0) return make_error(ErrorCode::timed_out, "no answer");
    return results;
  }

  Result<std::vector<protocol::Ongoing>> reassignments(const Deadline&) override {
    std::vector<protocol::Ongoing> all;
    for (const auto& [key, partition] : partitions) {
      if (partition.wish.empty()) continue;
      protocol::Ongoing one{key.first, key.second, partition.wish, {}, {}};
      for (const int id : partition.wish) {
        if (!has(partition.list, id)) one.adding.push_back(id);
      }
      for (const int id : partition.list) {
        if (has(partition.wish, id)) continue;
        one.removing.push_back(id);
        one.replicas.push_back(id);
      }
      all.push_back(one);
    }
    answered();
    return all;
  }

  Result<std::vector<protocol::PartitionResult>> elect_preferred(
      const std::vector<protocol::PartitionName>& names, const Deadline&) override {
    elected_at_once = std::max(elected_at_once, names.size());
    for (const auto& name : names) {
      if (unelectable.count({name.topic, name.partition}) != 0) continue;
      auto& partition = partitions.at({name.topic, name.partition});
      partition.leader = partition.list[0];
    }
    return std::vector<protocol::PartitionResult>{};
  }

  Result<void> alter_topics(const std::vector<protocol::ConfigChange>& changes, const Deadline&) override {
    for (const auto& change : changes) apply(topic_settings[change.name], change);
    return ok();
  }
  Result<std::vector<protocol::ConfigAnswer>> describe_topics(
      const std::vector<protocol::ConfigQuery>& queries, const Deadline&) override {
    std::vector<protocol::ConfigAnswer> answers;
    for (const auto& query : queries) {
      answers.push_back({protocol::Resource::topic, query.name, 0, "", {}});
      for (const auto& [key, value] : topic_settings[query.name])
        answers.back().settings.push_back({key, value, true});
    }
    return answers;
  }
  Result<void> alter_broker(int broker, const protocol::ConfigChange& change, const Deadline&) override {
    PILOT_TRY_VOID(answers(broker));
    apply(broker_settings[broker], change);
    return ok();
  }
  Result<protocol::ConfigAnswer> describe_broker(int broker, const std::vector<std::string>& keys,
                                                 const Deadline&) override {
    PILOT_TRY_VOID(answers(broker));
    protocol::ConfigAnswer answer{protocol::Resource::broker, std::to_string(broker), 0, "", {}};
    for (const auto& key : keys) {
      const auto& own = broker_settings[broker];
      const auto at = own.find(key);
      answer.settings.push_back({key, at == own.end() ? "" : at->second, at != own.end()});
    }
    return answer;
  }
  Result<void> unregister(int broker, const Deadline&) override {
    unregistered.push_back(broker);
    return ok();
  }
  Result<Duration> round_trip(int, const Deadline&) override { return std::chrono::milliseconds(1); }

  std::set<int> up;
  std::set<int> dead;  // of those that are listed as up
  std::set<PartitionKey> unelectable;
  std::map<PartitionKey, Replicas> partitions;
  std::set<PartitionKey> stuck;
  std::map<std::string, std::map<std::string, std::string>> topic_settings;
  std::map<int, std::map<std::string, std::string>> broker_settings;
  std::vector<int> unregistered;
  std::int16_t refuse_with = 0;
  bool silent = false;
  int submitted = 0;
  int unanswered = 0;  // so many requests for moves are taken without an answer
  std::size_t elected_at_once = 0;
  std::function<void()> once_answered;               // after the next answer about partitions
  std::optional<protocol::ClusterState> late_image;  // what a broker that is behind tells
  int late_by = 0;                                   // for so many answers

  // Brokers have one log directory, or these.  A replica is in the first, or where it was put.
  struct Copy {
    std::string path;
    std::int64_t bytes = 0;
  };
  using ReplicaKey = std::pair<int, PartitionKey>;  // broker
  std::map<int, std::vector<std::string>> folders;
  std::set<std::string> offline;
  std::map<ReplicaKey, std::string> paths;
  std::map<ReplicaKey, Copy> copies;  // under way
  bool copies_stuck = false;
  std::int16_t refuse_places_with = 0;

 private:
  Result<void> answers(int broker) const {
    if (dead.count(broker) == 0) return ok();
    return make_error(ErrorCode::unavailable, "broker " + std::to_string(broker) + " is not up");
  }
  void answered() {
    if (const auto act = std::exchange(once_answered, nullptr)) act();
  }
  std::vector<std::string> folders_of(int broker) const {
    const auto at = folders.find(broker);
    return at == folders.end() ? std::vector<std::string>{"/d"} : at->second;
  }
  std::string path_of(int broker, const PartitionKey& key) const {
    const auto at = paths.find({broker, key});
    return at == paths.end() ? folders_of(broker).front() : at->second;
  }
  void pass_copies(std::int64_t bytes) {
    for (auto at = copies.begin(); at != copies.end() && !copies_stuck;) {
      at->second.bytes += bytes;
      const bool done = at->second.bytes >= partitions.at(at->first.second).bytes;
      if (done) paths[at->first] = at->second.path;
      at = done ? copies.erase(at) : std::next(at);
    }
  }
  static bool has(const std::vector<int>& list, int id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  }
  static void apply(std::map<std::string, std::string>& settings, const protocol::ConfigChange& change) {
    for (const auto& [key, value] : change.settings) {
      if (value) {
        settings[key] = *value;
      } else {
        settings.erase(key);
      }
    }
  }
};

}  // namespace pilot::adaptors::kafka::rebalance
