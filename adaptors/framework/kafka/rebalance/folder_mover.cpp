#include "adaptors/framework/kafka/rebalance/folder_mover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "adaptors/framework/kafka/protocol/error_codes.hpp"

namespace pilot::adaptors::kafka::rebalance {

namespace {

constexpr Bytes unknown_room{std::numeric_limits<std::uint64_t>::max()};

PartitionKey key_of(const reassign::Replica& replica) {
  return {replica.topic, replica.index};
}

Bytes size_of(const protocol::ReplicaSize& replica) {
  return Bytes{static_cast<std::uint64_t>(std::max<std::int64_t>(0, replica.bytes))};
}

protocol::ReplicaPlace place_at(const reassign::Replica& replica, const std::string& path) {
  return {replica.topic, replica.index, path};
}

}  // namespace

Disks disks(const std::vector<protocol::LogDir>& told) {
  Disks found;
  std::map<std::string, std::size_t> at;
  std::map<PartitionKey, Copy> copies;
  for (const auto& folder : told) {
    if (folder.error != protocol::no_error) continue;
    at[folder.path] = found.folders.size();
    const bool known = folder.usable_bytes >= 0;
    found.folders.push_back(
        {folder.path, known ? Bytes{static_cast<std::uint64_t>(folder.usable_bytes)} : unknown_room, {}});
    for (const auto& replica : folder.replicas) {
      if (replica.future)
        copies[{replica.topic, replica.partition}] = {{{}, "", folder.path}, size_of(replica)};
    }
  }
  for (const auto& folder : told) {
    if (folder.error != protocol::no_error) continue;
    for (const auto& one : folder.replicas) {
      if (one.future) continue;
      const reassign::Replica replica{one.topic, one.partition, size_of(one)};
      const auto copy = copies.find(key_of(replica));
      const auto& path = copy == copies.end() ? folder.path : copy->second.move.to;
      found.folders[at[path]].replicas.push_back(replica);
      if (copy != copies.end()) found.copies.push_back({{replica, folder.path, path}, copy->second.copied});
    }
  }
  return found;
}

Result<void> wish_folders(const Surroundings& on, int broker, const FolderChanges& changes) {
  const Deadline deadline(on.clock, request_limit);
  PILOT_TRY(const auto told, on.cluster.log_dirs(broker, deadline));
  auto folders = disks(told).folders;
  for (auto& folder : folders)
    std::erase_if(folder.replicas,
                  [&](const auto& held) { return changes.leaving.count(key_of(held)) != 0; });
  std::vector<protocol::ReplicaPlace> wishes;
  for (const auto& move : reassign::place(std::move(folders), changes.coming))
    wishes.push_back(place_at(move.replica, move.to));
  if (wishes.empty()) return ok();
  PILOT_TRY(const auto results, on.cluster.alter_log_dirs(broker, wishes, deadline));
  const auto refused = std::find_if(results.begin(), results.end(), [](const auto& result) {
    return result.error != protocol::no_error && result.error != protocol::replica_not_available;
  });
  if (refused == results.end()) return ok();
  on.reporter.step(fmt::format("broker {} chooses log directories itself: partition {} of topic '{}': {}",
                               broker, refused->partition, refused->topic,
                               protocol::sentence(refused->error)));
  return ok();
}

Result<Disks> FolderMover::ask(int broker) const {
  PILOT_TRY(const auto told, on_.cluster.log_dirs(broker, Deadline(on_.clock, request_limit)));
  return disks(told);
}

Result<void> FolderMover::run(const std::set<int>& brokers) {
  Moves under_way;
  for (const int id : brokers) {
    PILOT_TRY(const auto now, ask(id));
    for (const auto& copy : now.copies) under_way[id].push_back(copy.move);
  }
  PILOT_TRY_VOID(carry_out(std::move(under_way), true));
  Moves wanted;
  for (const int id : brokers) {
    PILOT_TRY(auto now, ask(id));
    auto moves = reassign::even_out(std::move(now.folders));
    if (!moves.empty()) wanted[id] = std::move(moves);
  }
  return carry_out(std::move(wanted), false);
}

Result<void> FolderMover::carry_out(Moves moves, bool submitted) {
  if (moves.empty()) return ok();
  std::size_t count = 0;
  Bytes bytes;
  for (const auto& [id, list] : moves) {
    count += list.size();
    for (const auto& move : list) bytes.count += move.replica.size.count;
  }
  pace_.expect(count, bytes);
  on_.reporter.step(fmt::format("{} replicas {} between log directories of their brokers, {} in all", count,
                                submitted ? "are on their way already" : "move", format_bytes(bytes)));
  left_ = std::move(moves);
  PILOT_TRY_VOID(pace_.throttle(*this));
  if (!submitted) {
    for (const auto& [id, list] : left_) PILOT_TRY_VOID(submit(id, list));
  }
  return pace_.watch(*this);
}

Result<void> FolderMover::submit(int broker, const std::vector<reassign::FolderMove>& moves) {
  std::vector<protocol::ReplicaPlace> places;
  for (const auto& move : moves) places.push_back(place_at(move.replica, move.to));
  PILOT_TRY(const auto results,
            on_.cluster.alter_log_dirs(broker, places, Deadline(on_.clock, request_limit)));
  for (const auto& result : results) {
    // A replica that has gone meanwhile has nothing to move.
    if (result.error == protocol::no_error || result.error == protocol::replica_not_available) continue;
    return make_error(
        ErrorCode::failed,
        fmt::format("moving partition {} of topic '{}' to another log directory of broker {}: {}",
                    result.partition, result.topic, broker, protocol::sentence(result.error)));
  }
  return ok();
}

Result<bool> FolderMover::look() {
  Bytes copied;
  std::uint64_t all = 0;  // with what was written since
  std::vector<Bytes> finished;
  Moves still;
  for (const auto& [broker, moves] : left_) {
    PILOT_TRY(const auto now, ask(broker));
    std::map<PartitionKey, std::string> at;
    for (const auto& folder : now.folders) {
      for (const auto& replica : folder.replicas) at[key_of(replica)] = folder.path;
    }
    std::map<PartitionKey, Bytes> copies;
    for (const auto& copy : now.copies) copies[key_of(copy.move.replica)] = copy.copied;
    for (const auto& move : moves) {
      const auto place = at.find(key_of(move.replica));
      const auto copy = copies.find(key_of(move.replica));
      const bool gone = place == at.end();
      if (gone || (copy == copies.end() && place->second == move.to)) {
        finished.push_back(move.replica.size);
        continue;
      }
      if (copy != copies.end()) {
        copied.count += std::min(copy->second, move.replica.size).count;
        all += copy->second.count;
      }
      still[broker].push_back(move);
    }
  }
  left_ = std::move(still);
  for (const auto size : finished) pace_.finished(size);
  pace_.advanced(copied);
  return std::exchange(copied_, all) != all || !finished.empty();
}

std::string FolderMover::waiting() const {
  std::size_t count = 0;
  for (const auto& [broker, moves] : left_) count += moves.size();
  const auto& [broker, moves] = *left_.begin();
  const auto& move = moves.front();
  return fmt::format(
      "{} of {} moves wait, the first on broker {} for partition {} of topic '{}' from {} to {}", count,
      pace_.progress().moves, broker, move.replica.index, move.replica.topic, move.from, move.to);
}

std::map<PartitionKey, std::size_t> FolderMover::moving() const {
  std::map<PartitionKey, std::size_t> none;  // a copy feeds no follower
  for (const auto& [broker, moves] : left_) {
    for (const auto& move : moves) none[key_of(move.replica)] = 0;
  }
  return none;
}

// Where the replicas are of which a copy is being made, among those left.
Result<std::vector<protocol::ReplicaPlace>> FolderMover::still_copied(int broker) const {
  PILOT_TRY(const auto now, ask(broker));
  const auto& moves = left_.at(broker);
  std::vector<protocol::ReplicaPlace> places;
  for (const auto& copy : now.copies) {
    const auto key = key_of(copy.move.replica);
    if (std::any_of(moves.begin(), moves.end(),
                    [&](const auto& move) { return key_of(move.replica) == key; }))
      places.push_back(place_at(copy.move.replica, copy.move.from));
  }
  return places;
}

// By where each replica is now, not where it was: a copy that was done meanwhile would be copied back.
Result<void> FolderMover::cancel() {
  const Deadline limit(on_.clock, request_limit);
  while (!left_.empty()) {
    const int broker = left_.begin()->first;
    PILOT_TRY(const auto places, still_copied(broker));
    if (places.empty()) {
      left_.erase(broker);
      continue;
    }
    if (limit.passed()) {
      return make_error(
          ErrorCode::timed_out,
          fmt::format("partition {} of topic '{}' is still copied between log directories of broker {}",
                      places[0].partition, places[0].topic, broker));
    }
    PILOT_TRY_VOID(on_.cluster.alter_log_dirs(broker, places, Deadline(on_.clock, request_limit)));
    on_.wait(std::chrono::milliseconds(100));
  }
  return ok();
}

}  // namespace pilot::adaptors::kafka::rebalance
