// The log directories of single brokers: where replicas that come shall be, and moves of those that are
// there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/reassign/folders.hpp"
#include "adaptors/framework/kafka/rebalance/pace.hpp"

namespace pilot::adaptors::kafka::rebalance {

// A copy that will replace the replica it is made of.
struct Copy {
  reassign::FolderMove move;
  Bytes copied;
};

// The directories of a broker that are on line, and what each holds once the copies are done.
struct Disks {
  std::vector<reassign::Folder> folders;
  std::vector<Copy> copies;
};

Disks disks(const std::vector<protocol::LogDir>& told);

struct FolderChanges {
  std::vector<reassign::Replica> coming;
  std::set<PartitionKey> leaving;
};

// Tells a broker in which directories it shall make the replicas that come (reassign::place()).  What it
// refuses it chooses itself, as without a wish.  Errors: the administrator's.
Result<void> wish_folders(const Surroundings& on, int broker, const FolderChanges& changes);

class FolderMover final : private Work {
 public:
  FolderMover(const Surroundings& surroundings, Pace& pace) : on_(surroundings), pace_(pace) {}

  // Waits for the copies under way on these brokers, then moves until their directories are even
  // (reassign::even_out()).  Errors: partial, when stopped or stalled; failed, when a broker refuses; the
  // administrator's.  Then cancel() is due.
  Result<void> run(const std::set<int>& brokers);

  // Drops the copies that run() left under way and waits until they are gone: the replicas stay.
  Result<void> cancel();

 private:
  using Moves = std::map<int, std::vector<reassign::FolderMove>>;  // by broker

  bool done() const override { return left_.empty(); }
  Result<bool> look() override;
  std::size_t lanes() const override { return left_.size(); }
  std::string waiting() const override;
  std::map<PartitionKey, std::size_t> moving() const override;

  Result<Disks> ask(int broker) const;
  Result<void> carry_out(Moves moves, bool submitted);
  Result<void> submit(int broker, const std::vector<reassign::FolderMove>& moves);
  Result<std::vector<protocol::ReplicaPlace>> still_copied(int broker) const;

  const Surroundings& on_;
  Pace& pace_;
  Moves left_;  // outlives run(), for cancel()
  std::uint64_t copied_ = 0;
};

}  // namespace pilot::adaptors::kafka::rebalance
