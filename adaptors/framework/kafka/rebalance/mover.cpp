#include "adaptors/framework/kafka/rebalance/mover.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "adaptors/framework/kafka/protocol/error_codes.hpp"
#include "adaptors/framework/kafka/rebalance/folder_mover.hpp"

namespace pilot::adaptors::kafka::rebalance {

namespace {

PartitionKey key(const reassign::Move& move) {
  return {move.topic, move.index};
}

// Of these partitions, with the sizes that they had.
Arrived held(const std::vector<protocol::LogDir>& folders,
             const std::map<PartitionKey, std::uint64_t>& sizes) {
  Arrived there;
  for (const auto& folder : folders) {
    for (const auto& replica : folder.replicas) {
      const auto size = sizes.find({replica.topic, replica.partition});
      if (size == sizes.end() || replica.future) continue;
      const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, replica.bytes));
      there.wanted.count += std::min(size->second, bytes);
      there.all += bytes;
    }
  }
  return there;
}

}  // namespace

Mover::Mover(const Surroundings& surroundings, Pace& pace, const Observation& start)
    : on_(surroundings), pace_(pace), brokers_(start.up.size()) {
  for (const auto& [id, broker] : start.up) {
    if (broker.folders > 1) with_folders_.insert(id);
  }
}

void Mover::expect(const std::vector<reassign::Move>& moves) {
  Bytes bytes;
  for (const auto& move : moves) bytes.count += move.moved().count;
  pace_.expect(moves.size(), bytes);
}

std::size_t Mover::lanes() const {
  std::set<int> from;
  std::set<int> to;
  for (const auto& move : left_) {
    const auto added = move.added();
    to.insert(added.begin(), added.end());
    if (!added.empty()) from.insert(move.from.front());
  }
  return std::max<std::size_t>(1, std::min(from.size(), to.size()));
}

std::map<PartitionKey, std::size_t> Mover::moving() const {
  const bool all_soon = !pace_.portions().gentle;
  std::map<PartitionKey, std::size_t> followers;
  for (const auto& move : left_) {
    const bool comes = all_soon || asked_.contains(key(move));
    followers[key(move)] = move.from.size() - 1 + (comes ? move.added().size() : 0);
  }
  return followers;
}

Result<void> Mover::throttle(const std::vector<reassign::Move>& batch) {
  const bool moves =
      std::any_of(batch.begin(), batch.end(), [](const auto& move) { return !move.added().empty(); });
  if (!moves) return ok();
  PILOT_TRY_VOID(pace_.throttle(*this));
  if (!pace_.throttles()) return ok();
  PILOT_TRY_VOID(pause());
  PILOT_TRY_VOID(throttle_topics(on_.cluster, batch, request()));
  return pause();
}

// Brokers take what they are told before in peace.
Result<void> Mover::pause() const {
  if (on_.wait(pace_.portions().pause())) return ok();
  return make_error(ErrorCode::partial, "stopped on request");
}

// Before the moves: a broker that has a replica already would copy it.
Result<void> Mover::choose_folders(const std::vector<reassign::Move>& batch) {
  std::map<int, FolderChanges> changes;  // by broker
  for (const auto& move : batch) {
    const reassign::Replica replica{move.topic, move.index, move.size};
    for (const int id : move.added()) changes[id].coming.push_back(replica);
    for (const int id : move.from) {
      if (!contains(move.to, id)) changes[id].leaving.insert(key(move));
    }
  }
  for (const auto& [id, change] : changes) {
    if (with_folders_.count(id) == 0 || change.coming.empty()) continue;
    PILOT_TRY_VOID(wish_folders(on_, id, change));
  }
  return ok();
}

// Of each leader a few at a time: when a move is done every replica of its partition follows anew, and what
// is small and moves beside large ones would all be done in the same moment, when the rate rises or the large
// ones end.  Producers felt that as seconds (tests/bench/elastic/move_bench).
std::vector<protocol::Reassignment> Mover::next_wishes() const {
  std::map<int, std::size_t> under_way;  // by leader
  for (const auto& move : left_)
    if (asked_.contains(key(move))) ++under_way[pace_.leader_of(move)];
  const auto most = pace_.portions().size(brokers_, batch_size_);
  std::vector<protocol::Reassignment> wishes;
  for (const auto& move : left_) {
    if (wishes.size() == most) break;
    auto& of_leader = under_way[pace_.leader_of(move)];
    if (asked_.contains(key(move)) || of_leader >= of_a_leader_) continue;
    ++of_leader;
    wishes.push_back({move.topic, move.index, move.to});
  }
  return wishes;
}

// Errors: what Kafka refuses.  That nobody answers passes, or nothing moves for long.
Result<bool> Mover::ask_for_more() {
  if (asked_.size() >= left_.size()) return false;
  const auto now = on_.clock.steady();
  if (now - last_change_ >= pace_.stuck_after()) {
    last_change_ = now;
    of_a_leader_ *= 2;
  }
  const auto wishes = next_wishes();
  if (wishes.empty()) return false;
  if (now - last_asked_ < pace_.portions().pause()) return true;
  last_asked_ = now;
  const auto results = on_.cluster.alter_reassignments(wishes, request());
  if (results.has_error()) {
    const auto code = results.error().code;
    if (code == ErrorCode::unavailable || code == ErrorCode::timed_out) return true;
    return results.error();
  }
  for (const auto& result : results.value()) {
    // A topic that was deleted meanwhile has nothing to move.
    if (result.error != protocol::no_error && result.error != protocol::unknown_topic_or_partition)
      return make_error(ErrorCode::failed,
                        fmt::format("moving partition {} of topic '{}': {}", result.partition, result.topic,
                                    protocol::sentence(result.error, result.said)));
    asked_.emplace(result.topic, result.partition);
  }
  return true;
}

Result<void> Mover::run(const std::vector<reassign::Move>& batch, bool submitted) {
  left_ = batch;
  batch_size_ = batch.size();
  asked_.clear();
  arrived_.clear();
  last_change_ = on_.clock.steady();
  if (submitted) std::ranges::transform(batch, std::inserter(asked_, asked_.end()), key);
  PILOT_TRY_VOID(throttle(batch));
  std::map<int, std::size_t> of_leaders;
  for (const auto& move : batch) ++of_leaders[pace_.leader_of(move)];
  of_a_leader_ = pace_.portions().of_a_leader(std::ranges::max(std::views::values(of_leaders)));
  if (!submitted) PILOT_TRY_VOID(choose_folders(batch));
  PILOT_TRY_VOID(pace_.watch(*this));
  PILOT_TRY_VOID(settle(batch));
  if (!pace_.throttles()) return ok();
  std::set<std::string> topics;
  for (const auto& move : batch) topics.insert(move.topic);
  return release_topics(on_.cluster, topics, request());
}

Result<bool> Mover::look() {
  PILOT_TRY(const auto ongoing, on_.cluster.reassignments(request()));
  std::set<PartitionKey> going;
  for (const auto& one : ongoing) going.emplace(one.topic, one.partition);
  for (const auto& move : left_)  // what was asked for may have been taken although no answer came
    if (going.contains(key(move))) asked_.insert(key(move));
  const auto end = std::stable_partition(left_.begin(), left_.end(), [&](const auto& move) {
    return going.count(key(move)) != 0 || !asked_.contains(key(move));
  });
  const bool finished = end != left_.end();
  for (auto at = end; at != left_.end(); ++at) {
    pace_.finished(at->moved());
    asked_.erase(key(*at));
    finished_.insert(at->topic);
  }
  left_.erase(end, left_.end());
  const auto before = arrived_;
  const auto more = arrived();
  if (more.has_value()) pace_.advanced(more.value());
  const auto freed = unthrottle();
  if (finished || arrived_ != before) {
    last_change_ = on_.clock.steady();
    return true;
  }
  if (!more.has_value()) return more.error();
  if (!freed.has_value()) return freed.error();
  return false;
}

// Finished moves: what leaders send to followers of throttled partitions counts, and one that falls out of
// sync would wait.  Not each by itself, for every broker hears of it.
Result<void> Mover::unthrottle() {
  constexpr Duration seldom = std::chrono::seconds(5);
  const auto now = on_.clock.steady();
  if (!pace_.throttles() || finished_.empty() || now - last_unthrottled_ < seldom) return ok();
  last_unthrottled_ = now;
  std::vector<reassign::Move> still;
  auto free = std::exchange(finished_, {});
  for (const auto& move : left_) {
    if (free.count(move.topic) != 0) still.push_back(move);
  }
  for (const auto& move : still) free.erase(move.topic);
  PILOT_TRY_VOID(throttle_topics(on_.cluster, still, request()));
  return release_topics(on_.cluster, free, request());
}

// A broker that does not answer has what it had.  Errors: none answers.
Result<Bytes> Mover::arrived() {
  std::map<int, std::map<PartitionKey, std::uint64_t>> wanted;  // by broker
  for (const auto& move : left_) {
    if (!asked_.contains(key(move))) continue;
    for (const int id : move.added()) wanted[id].emplace(key(move), move.size.count);
  }
  std::erase_if(arrived_, [&](const auto& entry) { return wanted.count(entry.first) == 0; });
  std::optional<Error> silent;
  bool any = wanted.empty();
  for (const auto& [broker, sizes] : wanted) {
    const auto folders = on_.cluster.log_dirs(broker, request());
    any = any || folders.has_value();
    if (folders.has_value())
      arrived_[broker] = held(folders.value(), sizes);
    else
      silent = folders.error();
  }
  if (!any) return *silent;
  Bytes bytes;
  for (const auto& [broker, there] : arrived_) bytes.count += there.wanted.count;
  return bytes;
}

// Brokers hear of a finished move a moment after the controller; a plan from older lists would move again.
Result<void> Mover::settle(const std::vector<reassign::Move>& batch) {
  const Deadline limit(on_.clock, request_limit);
  while (true) {
    PILOT_TRY(const auto state, on_.cluster.metadata(request()));
    std::map<PartitionKey, std::vector<int>> lists;
    for (const auto& topic : state.topics) {
      for (const auto& partition : topic.partitions)
        lists[{topic.name, partition.index}] = partition.replicas;
    }
    const auto* late = std::find_if(batch.data(), batch.data() + batch.size(), [&](const auto& move) {
      const auto now = lists.find(key(move));
      return now != lists.end() && now->second != move.to;
    });
    if (late == batch.data() + batch.size()) return ok();
    if (limit.passed()) {
      return make_error(
          ErrorCode::partial,
          fmt::format("partition {} of topic '{}' has replicas on {} in place of {}: somebody else moved it",
                      late->index, late->topic, fmt::join(lists[key(*late)], ", "),
                      fmt::join(late->to, ", ")),
          "run it again when nobody else moves partitions");
    }
    if (!on_.wait(std::chrono::milliseconds(100)))
      return make_error(ErrorCode::partial, "stopped on request");
  }
}

std::string Mover::waiting() const {
  const auto& move = left_.front();
  auto what = fmt::format("{} of {} moves wait, the first for partition {} of topic '{}' from {} to {}",
                          left_.size(), pace_.progress().moves, move.index, move.topic,
                          fmt::join(move.from, ", "), fmt::join(move.to, ", "));
  if (const auto state = on_.cluster.metadata(request()); state.has_value()) {
    for (const int id : move.added()) {
      const auto& up = state.value().brokers;
      if (std::none_of(up.begin(), up.end(), [&](const auto& broker) { return broker.id == id; }))
        what += fmt::format("; broker {} is not up", id);
    }
  }
  return what;
}

Result<void> Mover::cancel() {
  const Deadline limit(on_.clock, request_limit);
  while (!left_.empty()) {
    std::vector<protocol::Reassignment> wishes;
    for (const auto& move : left_) wishes.push_back({move.topic, move.index, std::nullopt});
    PILOT_TRY(const auto results, on_.cluster.alter_reassignments(wishes, request()));
    PILOT_TRY(const auto ongoing, on_.cluster.reassignments(request()));
    std::set<PartitionKey> going;
    for (const auto& one : ongoing) going.emplace(one.topic, one.partition);
    const auto end = std::remove_if(left_.begin(), left_.end(),
                                    [&](const auto& move) { return going.count(key(move)) == 0; });
    left_.erase(end, left_.end());
    if (!left_.empty() && limit.passed()) {
      return make_error(ErrorCode::timed_out, fmt::format("partition {} of topic '{}' still moves",
                                                          left_.front().index, left_.front().topic));
    }
    if (!left_.empty()) on_.wait(std::chrono::milliseconds(100));
  }
  return ok();
}

}  // namespace pilot::adaptors::kafka::rebalance
