#include "adaptors/framework/kafka/rebalance/election.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace pilot::adaptors::kafka::rebalance {

namespace {

using Names = std::vector<protocol::PartitionName>;

Names not_asked(const Names& all, const std::set<PartitionKey>& asked) {
  Names names;
  std::copy_if(all.begin(), all.end(), std::back_inserter(names), [&](const auto& one) {
    return asked.count({one.topic, one.partition}) == 0;
  });
  return names;
}

}  // namespace

Result<std::size_t> elect_first_replicas(const Surroundings& on, Portions portions) {
  const Duration patience = std::chrono::seconds(15);  // without one that passed
  Deadline limit(on.clock, patience);
  std::optional<std::size_t> first;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::set<PartitionKey> asked;
  while (true) {
    PILOT_TRY(const auto state, on.cluster.metadata(Deadline(on.clock, request_limit)));
    const auto left = not_preferred(state);
    if (!first) first = left.size();
    if (left.size() < fewest) limit = Deadline(on.clock, patience);
    fewest = std::min(fewest, left.size());
    if (left.empty() || limit.passed()) return *first > left.size() ? *first - left.size() : 0;
    auto part = not_asked(left, asked);
    if (part.empty()) {
      asked.clear();
      part = left;
    }
    part.resize(std::min(part.size(), portions.size(state.brokers.size(), *first)));
    for (const auto& one : part) asked.emplace(one.topic, one.partition);
    PILOT_TRY_VOID(on.cluster.elect_preferred(part, Deadline(on.clock, request_limit)));
    if (!on.wait(portions.pause())) return make_error(ErrorCode::partial, "stopped on request");
  }
}

}  // namespace pilot::adaptors::kafka::rebalance
