#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "adaptors/framework/kafka/reassign/load.hpp"

namespace pilot::adaptors::kafka::reassign {

namespace {

struct Drained {
  Load::PartitionAt partition;
  Load::BrokerAt from;
};

// Largest first, as in the scheduling of jobs on machines (Graham 1969): the small ones even out the rest.
std::vector<Drained> drained_replicas(const Load& load) {
  std::vector<Drained> all;
  for (Load::BrokerAt broker = 0; broker < load.brokers(); ++broker) {
    if (load.role(broker) != Role::drain) continue;
    for (const auto& place : load.held(broker)) all.push_back({place.partition, broker});
  }
  std::sort(all.begin(), all.end(), [&](const Drained& a, const Drained& b) {
    return std::tuple(load.size(b.partition), a.partition, a.from) <
           std::tuple(load.size(a.partition), b.partition, b.from);
  });
  return all;
}

std::optional<Load::BrokerAt> best_place(const Load& load, const Drained& replica) {
  std::optional<Load::BrokerAt> best;
  std::pair<int, double> least(std::numeric_limits<int>::max(), 0);
  for (Load::BrokerAt to = 0; to < load.brokers(); ++to) {
    if (!load.kept(to) || load.has(replica.partition, to) || !load.has_room(replica.partition, to)) continue;
    const std::pair cost(load.in_rack(replica.partition, to, replica.from),
                         load.change(replica.partition, replica.from, to));
    if (cost < least) {
      least = cost;
      best = to;
    }
  }
  return best;
}

// "9 GiB have to move and the 2 brokers that stay have 4 GiB free": of all, before anything has moved.  A
// broker whose disks don't tell has room without an end, and there is nothing to add up.
std::string in_all(const std::vector<Drained>& all, const Load& load, const std::vector<Broker>& brokers) {
  std::uint64_t moves = 0, room = 0;
  int stay = 0;
  for (const auto& replica : all) moves += load.size(replica.partition);
  for (const auto& broker : brokers) {
    if (broker.role != Role::keep) continue;
    ++stay;
    if (broker.room.count == std::numeric_limits<std::uint64_t>::max()) return {};
    room += broker.room.count;
  }
  return fmt::format("{} have to move and the {} broker{} {} free; ", format_bytes(Bytes{moves}), stay,
                     stay == 1 ? " that stays has" : "s that stay have", format_bytes(Bytes{room}));
}

Error no_room(const Load& load, const Drained& replica, const std::vector<Broker>& brokers,
              const std::string& sums) {
  std::uint64_t most = 0;
  for (Load::BrokerAt to = 0; to < load.brokers(); ++to) {
    if (load.kept(to) && !load.has(replica.partition, to)) most = std::max(most, load.room(to));
  }
  return make_error(
      ErrorCode::failed,
      fmt::format("broker {} can't be drained: {}a replica of {} has no place, for of the brokers "
                  "that could take it none has more than {} free",
                  brokers[replica.from].id, sums, format_bytes(Bytes{load.size(replica.partition)}),
                  format_bytes(Bytes{most})),
      "keep it, or shorten the topics' retention");
}

}  // namespace

Result<std::size_t> drain(Load& load, const std::vector<Broker>& brokers, bool as_far_as_possible) {
  std::size_t without_place = 0;
  const auto all = drained_replicas(load);
  for (const auto& replica : all) {
    if (const auto to = best_place(load, replica))
      load.move(replica.partition, replica.from, *to);
    else if (as_far_as_possible)
      ++without_place;
    else
      return no_room(load, replica, brokers, in_all(all, load, brokers));
  }
  return without_place;
}

}  // namespace pilot::adaptors::kafka::reassign
