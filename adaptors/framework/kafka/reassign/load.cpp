#include "adaptors/framework/kafka/reassign/load.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace pilot::adaptors::kafka::reassign {

Load::Load(const std::vector<Broker>& brokers, const std::vector<Partition>& partitions)
    : bytes_(brokers.size()), held_(brokers.size()) {
  std::unordered_map<int, BrokerAt> at;
  std::map<std::string, int> racks;
  std::size_t kept_brokers = 0;
  for (const auto& broker : brokers) {
    at.emplace(broker.id, static_cast<BrokerAt>(at.size()));
    role_.push_back(broker.role);
    room_.push_back(broker.room.count);
    const auto rack = racks.emplace(broker.rack, static_cast<int>(racks.size())).first->second;
    rack_.push_back(broker.rack.empty() ? -1 : rack);
    if (broker.role == Role::keep) ++kept_brokers;
  }
  double total_bytes = 0;
  double total_count = 0;
  for (const auto& partition : partitions) {
    const auto number = static_cast<PartitionAt>(size_.size());
    size_.push_back(partition.size.count);
    first_.push_back(lists_.size());
    for (const int id : partition.replicas) {
      const auto broker = at.at(id);
      held_[broker].push_back({number, static_cast<std::uint32_t>(lists_.size() - first_.back())});
      lists_.push_back(broker);
      bytes_[broker] += partition.size.count;
      if (role_[broker] == Role::leave) continue;
      total_bytes += static_cast<double>(partition.size.count);
      total_count += 1;
    }
  }
  first_.push_back(lists_.size());
  if (total_bytes > 0) bytes_share_ = static_cast<double>(kept_brokers) / total_bytes;
  if (total_count > 0) count_share_ = static_cast<double>(kept_brokers) / total_count;
}

bool Load::has(PartitionAt partition, BrokerAt broker) const {
  return std::find(begin(partition), end(partition), broker) != end(partition);
}

int Load::in_rack(PartitionAt partition, BrokerAt broker, BrokerAt except) const {
  if (rack_[broker] < 0) return 0;
  return static_cast<int>(std::count_if(begin(partition), end(partition), [&](BrokerAt other) {
    return other != except && rack_[other] == rack_[broker];
  }));
}

double Load::change(PartitionAt partition, BrokerAt from, BrokerAt to) const {
  const double b = bytes_of(partition);
  const double c = count_share_;
  // (x + d)^2 - x^2 = d (2 x + d)
  const double at_to = b * (2 * bytes(to) + b) + c * (2 * replicas(to) + c);
  if (role_[from] != Role::keep) return at_to;
  return at_to + b * (b - 2 * bytes(from)) + c * (c - 2 * replicas(from));
}

void Load::move(PartitionAt partition, BrokerAt from, BrokerAt to) {
  auto& old = held_[from];
  const auto at =
      std::find_if(old.begin(), old.end(), [&](const Place& place) { return place.partition == partition; });
  const auto place = *at;
  *at = old.back();
  old.pop_back();
  held_[to].push_back(place);
  lists_[first_[partition] + place.position] = to;
  bytes_[from] -= size_[partition];
  bytes_[to] += size_[partition];
  room_[to] -= std::min(room_[to], size_[partition]);
}

void Load::lead(PartitionAt partition, BrokerAt leader) {
  auto* const list = &lists_[first_[partition]];
  const auto position =
      static_cast<std::uint32_t>(std::find(list, list + (end(partition) - begin(partition)), leader) - list);
  const auto set_position = [&](BrokerAt broker, std::uint32_t value) {
    for (auto& place : held_[broker]) {
      if (place.partition == partition) place.position = value;
    }
  };
  set_position(list[0], position);
  set_position(leader, 0);
  std::swap(list[0], list[position]);
}

}  // namespace pilot::adaptors::kafka::reassign
