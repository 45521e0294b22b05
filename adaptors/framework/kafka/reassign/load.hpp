// A cluster as dense arrays, so that 100,000 partitions on 1,000 brokers are planned in well under a second.
#pragma once

#include <cstdint>
#include <vector>

#include "adaptors/framework/kafka/reassign/planner.hpp"

namespace pilot::adaptors::kafka::reassign {

// Brokers are numbered by ascending id, partitions by topic and index.
class Load {
 public:
  using BrokerAt = std::uint32_t;
  using PartitionAt = std::uint32_t;

  struct Place {
    PartitionAt partition;
    std::uint32_t position;  // in the partition's list
  };

  // Both sorted; every broker that occurs in a list is among `brokers`.
  Load(const std::vector<Broker>& brokers, const std::vector<Partition>& partitions);

  std::size_t brokers() const { return role_.size(); }
  std::size_t partitions() const { return size_.size(); }
  Role role(BrokerAt broker) const { return role_[broker]; }
  bool kept(BrokerAt broker) const { return role_[broker] == Role::keep; }

  // What a broker holds, in units of the fair share of a kept broker: 1 is just right.
  double bytes(BrokerAt broker) const { return bytes_share_ * static_cast<double>(bytes_[broker]); }
  double replicas(BrokerAt broker) const { return count_share_ * static_cast<double>(held_[broker].size()); }
  double bytes_of(PartitionAt partition) const {
    return bytes_share_ * static_cast<double>(size_[partition]);
  }
  bool any_bytes() const { return bytes_share_ > 0; }
  double one_replica() const { return count_share_; }

  std::uint64_t size(PartitionAt partition) const { return size_[partition]; }
  const std::vector<Place>& held(BrokerAt broker) const { return held_[broker]; }
  const BrokerAt* begin(PartitionAt partition) const { return &lists_[first_[partition]]; }
  const BrokerAt* end(PartitionAt partition) const { return lists_.data() + first_[partition + 1]; }
  bool has(PartitionAt partition, BrokerAt broker) const;

  // Replicas of a partition in the rack of `broker`, the one at `except` not counted; 0 without racks.
  int in_rack(PartitionAt partition, BrokerAt broker, BrokerAt except) const;
  bool has_room(PartitionAt partition, BrokerAt broker) const { return room_[broker] >= size_[partition]; }
  std::uint64_t room(BrokerAt broker) const { return room_[broker]; }

  // The change of the sum over brokers of the squares of bytes() and replicas(): below zero, the replica
  // is better at `to`.  What a drained broker holds does not count.
  double change(PartitionAt partition, BrokerAt from, BrokerAt to) const;

  void move(PartitionAt partition, BrokerAt from, BrokerAt to);  // the new one takes the old one's position
  void lead(PartitionAt partition, BrokerAt leader);             // puts it first

 private:
  std::vector<Role> role_;
  std::vector<int> rack_;  // -1: unknown
  std::vector<std::uint64_t> room_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::vector<Place>> held_;
  std::vector<std::uint64_t> size_;
  std::vector<std::size_t> first_;
  std::vector<BrokerAt> lists_;
  double bytes_share_ = 0;
  double count_share_ = 0;
};

// The steps of a plan; see plan().
// How many replicas found no place and stay: else an error, unless as far as possible will do.
Result<std::size_t> drain(Load& load, const std::vector<Broker>& brokers, bool as_far_as_possible);
bool fill_new(Load& load, double tolerance);  // whether there were new ones
void fill_and_relieve(Load& load, double tolerance);
void spread_leaders(Load& load);

}  // namespace pilot::adaptors::kafka::reassign
