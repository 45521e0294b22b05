#include "adaptors/framework/kafka/reassign/planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "adaptors/framework/kafka/reassign/load.hpp"
#include "pilot/base/contains.hpp"

namespace pilot::adaptors::kafka::reassign {

namespace {

// Sorted by id; those that are only known from lists are left as they are.
Result<void> complete(std::vector<Broker>& brokers, const std::vector<Partition>& partitions) {
  std::unordered_set<int> known;
  for (const auto& broker : brokers) {
    if (!known.insert(broker.id).second)
      return make_error(ErrorCode::usage, fmt::format("broker {} is named twice", broker.id));
  }
  for (const auto& partition : partitions) {
    for (const int id : partition.replicas) {
      if (known.insert(id).second) brokers.push_back({id, "", Role::leave});
    }
  }
  std::sort(brokers.begin(), brokers.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return ok();
}

Result<void> check_replication(const std::vector<Broker>& brokers, const std::vector<Partition>& partitions) {
  std::unordered_map<int, Role> roles;
  std::vector<int> kept;
  std::vector<int> drained;
  for (const auto& broker : brokers) {
    roles.emplace(broker.id, broker.role);
    if (broker.role == Role::keep) kept.push_back(broker.id);
    if (broker.role == Role::drain) drained.push_back(broker.id);
  }
  for (const auto& partition : partitions) {
    std::size_t left = 0;
    bool leaving = false;
    for (const int id : partition.replicas) {
      if (roles[id] == Role::leave) ++left;
      leaving = leaving || roles[id] == Role::drain;
    }
    if (!leaving || partition.replicas.size() <= kept.size() + left) continue;
    return make_error(
        ErrorCode::usage,
        fmt::format("topic '{}' has {} replicas of partition {}, but without broker {} only {} {} kept{}",
                    partition.topic, partition.replicas.size(), partition.index, fmt::join(drained, ", "),
                    kept.size(), kept.size() == 1 ? "broker is" : "brokers are",
                    kept.empty() ? "" : fmt::format(" ({})", fmt::join(kept, ", "))),
        "keep more brokers, or lower the topic's replication factor");
  }
  return ok();
}

}  // namespace

std::vector<int> Move::added() const {
  std::vector<int> ids;
  std::copy_if(to.begin(), to.end(), std::back_inserter(ids), [&](int id) { return !contains(from, id); });
  return ids;
}

Bytes Move::moved() const {
  return Bytes{size.count * added().size()};
}

Result<Plan> plan(std::vector<Broker> brokers, std::vector<Partition> partitions, const Wish& wish) {
  PILOT_TRY_VOID(complete(brokers, partitions));
  std::sort(partitions.begin(), partitions.end(), [](const auto& a, const auto& b) {
    return std::tie(a.topic, a.index) < std::tie(b.topic, b.index);
  });
  Plan plan;
  if (!wish.as_far_as_possible) PILOT_TRY_VOID(check_replication(brokers, partitions));
  Load load(brokers, partitions);
  PILOT_TRY(plan.without_place, drain(load, brokers, wish.as_far_as_possible));
  if (wish.balance) {
    const bool draining = std::any_of(brokers.begin(), brokers.end(),
                                      [](const Broker& broker) { return broker.role == Role::drain; });
    if (!fill_new(load, wish.tolerance) && !draining) fill_and_relieve(load, wish.tolerance);
    spread_leaders(load);
  }
  for (Load::PartitionAt at = 0; at < partitions.size(); ++at) {
    auto& partition = partitions[at];
    std::vector<int> to;
    std::transform(load.begin(at), load.end(at), std::back_inserter(to),
                   [&](Load::BrokerAt broker) { return brokers[broker].id; });
    if (to == partition.replicas) continue;
    plan.moves.push_back({std::move(partition.topic), partition.index, std::move(partition.replicas),
                          std::move(to), partition.size});
    plan.moved.count += plan.moves.back().moved().count;
  }
  return plan;
}

std::vector<std::vector<Move>> batches(std::vector<Move> moves, Bytes bytes, std::size_t count) {
  std::stable_partition(moves.begin(), moves.end(), [](const Move& move) { return !move.added().empty(); });
  std::vector<std::vector<Move>> out;
  Bytes filled;
  for (auto& move : moves) {
    const auto moved = move.moved();
    if (out.empty() || out.back().size() >= count ||
        (filled.count + moved.count > bytes.count && moved.count > 0)) {
      out.emplace_back();
      filled = {};
    }
    filled.count += moved.count;
    out.back().push_back(std::move(move));
  }
  return out;
}

}  // namespace pilot::adaptors::kafka::reassign
