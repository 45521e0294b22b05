#include "adaptors/framework/kafka/rebalance/mover.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "adaptors/framework/kafka/protocol/error_codes.hpp"

namespace pilot::adaptors::kafka::rebalance {

namespace {

constexpr std::size_t submitted_at_once = 500;
constexpr Duration adapt_every = std::chrono::seconds(5);

PartitionKey key(const reassign::Move& move) {
  return {move.topic, move.index};
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// The median of how long brokers take to answer; what does not answer counts as very long.
Duration round_trip(const Surroundings& on, const std::set<int>& brokers) {
  std::vector<Duration> all;
  for (const int id : brokers) {
    if (all.size() == 15) break;  // a sample will do
    const auto took = on.cluster.round_trip(id, Deadline(on.clock, std::chrono::seconds(2)));
    all.push_back(took.has_value() ? took.value() : Duration(std::chrono::seconds(2)));
  }
  if (all.empty()) return Duration{0};
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

// Brokers that can send and receive at the same time for these moves.
std::size_t lanes(const std::vector<reassign::Move>& moves) {
  std::set<int> from;
  std::set<int> to;
  for (const auto& move : moves) {
    const auto added = move.added();
    to.insert(added.begin(), added.end());
    if (!added.empty()) from.insert(move.from.front());
  }
  return std::max<std::size_t>(1, std::min(from.size(), to.size()));
}

}  // namespace

Mover::Mover(const Surroundings& surroundings, const Options& options, const Observation& start)
    : on_(surroundings),
      options_(options),
      behind_at_start_(start.out_of_sync),
      start_(on_.clock.steady()),
      last_adapted_(start_) {
  for (const auto& [id, broker] : start.up) up_.insert(id);
  if (options.throttling == Throttling::fixed) progress_.throttle = options.rate;
  if (options.throttling == Throttling::automatic) {
    round_trip(on_, up_);  // makes the connections
    policy_.emplace(round_trip(on_, up_));
    progress_.throttle = policy_->rate();
  }
}

void Mover::expect(const std::vector<reassign::Move>& moves) {
  progress_.moves += moves.size();
  for (const auto& move : moves) progress_.total.count += move.moved().count;
}

Result<void> Mover::set_rate(Rate rate) {
  for (const int id : up_) {
    throttled_.insert(id);
    PILOT_TRY_VOID(throttle_broker(on_.cluster, id, rate, request()));
  }
  return ok();
}

Result<void> Mover::throttle(const std::vector<reassign::Move>& batch) {
  const bool moves =
      std::any_of(batch.begin(), batch.end(), [](const auto& move) { return !move.added().empty(); });
  if (!moves || !progress_.throttle) return ok();
  PILOT_TRY_VOID(set_rate(*progress_.throttle));
  return throttle_topics(on_.cluster, batch, request());
}

Result<void> Mover::submit(const std::vector<reassign::Move>& batch) {
  for (std::size_t begin = 0; begin < batch.size(); begin += submitted_at_once) {
    std::vector<protocol::Reassignment> wishes;
    for (std::size_t i = begin; i < std::min(batch.size(), begin + submitted_at_once); ++i)
      wishes.push_back({batch[i].topic, batch[i].index, batch[i].to});
    PILOT_TRY(const auto results, on_.cluster.alter_reassignments(wishes, request()));
    for (const auto& result : results) {
      // A topic that was deleted meanwhile has nothing to move.
      if (result.error == protocol::no_error || result.error == protocol::unknown_topic_or_partition)
        continue;
      return make_error(ErrorCode::failed,
                        fmt::format("moving partition {} of topic '{}': {}", result.partition, result.topic,
                                    protocol::sentence(result.error, result.said)));
    }
  }
  return ok();
}

Result<void> Mover::run(const std::vector<reassign::Move>& batch, bool submitted) {
  left_ = batch;
  PILOT_TRY_VOID(throttle(batch));
  if (!submitted) PILOT_TRY_VOID(submit(batch));
  PILOT_TRY_VOID(watch());
  PILOT_TRY_VOID(settle(batch));
  if (!progress_.throttle) return ok();
  std::set<std::string> topics;
  for (const auto& move : batch) topics.insert(move.topic);
  return release_topics(on_.cluster, topics, request());
}

Result<void> Mover::watch() {
  constexpr Duration often = std::chrono::milliseconds(200);
  constexpr Duration seldom = std::chrono::seconds(1);
  auto last_change = on_.clock.steady();
  std::string cause;
  for (int looks = 0;; ++looks) {
    const auto moved = look();
    if (moved.has_value() && moved.value()) last_change = on_.clock.steady();
    cause = moved.has_value() ? "" : moved.error().text();
    report();
    if (left_.empty()) return ok();
    if (on_.clock.steady() - last_change >= options_.patience) return stalled(cause);
    if (!on_.wait(looks < 10 ? often : seldom)) return make_error(ErrorCode::partial, "stopped on request");
    adapt();
  }
}

Result<bool> Mover::look() {
  PILOT_TRY(const auto ongoing, on_.cluster.reassignments(request()));
  std::set<PartitionKey> going;
  for (const auto& one : ongoing) going.emplace(one.topic, one.partition);
  const auto end = std::stable_partition(left_.begin(), left_.end(),
                                         [&](const auto& move) { return going.count(key(move)) != 0; });
  const bool finished = end != left_.end();
  for (auto at = end; at != left_.end(); ++at) {
    done_.count += at->moved().count;
    ++progress_.moves_done;
  }
  left_.erase(end, left_.end());
  PILOT_TRY(const auto more, arrived());
  const Bytes moved{done_.count + more.count};
  const bool grew = moved > progress_.moved;
  progress_.moved = std::max(progress_.moved, moved);
  return finished || grew;
}

Result<Bytes> Mover::arrived() {
  std::map<int, std::map<PartitionKey, std::uint64_t>> wanted;  // by broker
  for (const auto& move : left_) {
    if (move.size.count == 0) continue;
    for (const int id : move.added()) wanted[id].emplace(key(move), move.size.count);
  }
  Bytes bytes;
  for (const auto& [broker, sizes] : wanted) {
    PILOT_TRY(const auto folders, on_.cluster.log_dirs(broker, request()));
    for (const auto& folder : folders) {
      for (const auto& replica : folder.replicas) {
        const auto size = sizes.find({replica.topic, replica.partition});
        if (size == sizes.end()) continue;
        bytes.count +=
            std::min(size->second, static_cast<std::uint64_t>(std::max<std::int64_t>(0, replica.bytes)));
      }
    }
  }
  return bytes;
}

void Mover::report() {
  if (!at_start_) at_start_ = progress_.moved;
  const double took = seconds(on_.clock.steady() - start_);
  const auto moved = static_cast<double>(progress_.moved.count - at_start_->count);
  progress_.bytes_per_second = took > 0 ? moved / took : 0;
  progress_.eta.reset();
  if (progress_.bytes_per_second > 0) {
    const auto left =
        static_cast<double>(progress_.total.count - std::min(progress_.total, progress_.moved).count);
    progress_.eta = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(left / progress_.bytes_per_second));
  }
  on_.reporter.progress(progress_);
}

void Mover::adapt() {
  const auto now = on_.clock.steady();
  if (!policy_ || now - last_adapted_ < adapt_every) return;
  RatePolicy::Look look{round_trip(on_, up_), false, 0};
  look.bytes_per_second = static_cast<double>(progress_.moved.count - moved_then_.count) /
                          seconds(now - last_adapted_) / static_cast<double>(lanes(left_));
  if (const auto state = on_.cluster.metadata(request()); state.has_value()) {
    std::set<PartitionKey> moving;
    for (const auto& move : left_) moving.insert(key(move));
    for (const auto& topic : state.value().topics) {
      for (const auto& partition : topic.partitions) {
        const PartitionKey at(topic.name, partition.index);
        look.others_fell_behind =
            look.others_fell_behind || (partition.in_sync.size() < partition.replicas.size() &&
                                        moving.count(at) == 0 && behind_at_start_.count(at) == 0);
      }
    }
  }
  last_adapted_ = now;
  moved_then_ = progress_.moved;
  const auto before = policy_->rate();
  const auto rate = policy_->next(look);
  if (rate == before || !set_rate(rate).has_value()) return;
  progress_.throttle = rate;
  on_.reporter.step(fmt::format("throttle now {}/s per broker: {}", format_bytes(Bytes{rate}),
                                rate > before ? "the cluster bears it" : "the cluster answers slowly"));
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

Error Mover::stalled(const std::string& cause) const {
  const auto& move = left_.front();
  auto what = fmt::format(
      "nothing moved for {}: {} of {} moves wait, the first for partition {} of topic '{}' from {} to {}",
      format_duration(options_.patience), left_.size(), progress_.moves, move.index, move.topic,
      fmt::join(move.from, ", "), fmt::join(move.to, ", "));
  if (const auto state = on_.cluster.metadata(request()); state.has_value()) {
    for (const int id : move.added()) {
      const auto& up = state.value().brokers;
      if (std::none_of(up.begin(), up.end(), [&](const auto& broker) { return broker.id == id; }))
        what += fmt::format("; broker {} is not up", id);
    }
  }
  if (!cause.empty()) what += "; " + cause;
  return make_error(ErrorCode::partial, what);
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
