// Carries out batches of moves between brokers: throttles, submits, watches, cancels.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/rebalance/pace.hpp"

namespace pilot::adaptors::kafka::rebalance {

// Of the replicas that moves bring to a broker.
struct Arrived {
  Bytes wanted;         // of what was there when the moves were planned
  std::uint64_t all{};  // with what producers wrote since, and without what retention deleted
  bool operator==(const Arrived&) const = default;
};

class Mover final : private Work {
 public:
  Mover(const Surroundings& surroundings, Pace& pace, const Observation& start);

  // More that run() will be given.
  void expect(const std::vector<reassign::Move>& moves);

  // Until all are done and the metadata shows it.  `submitted`: they are under way already.
  // Errors: partial, when stopped or stalled; the administrator's.  Then cancel() is due.
  Result<void> run(const std::vector<reassign::Move>& batch, bool submitted);

  // Cancels what run() left under way and waits until it is.
  Result<void> cancel();

 private:
  bool done() const override { return left_.empty(); }
  Result<bool> ask_for_more() override;
  Result<bool> look() override;
  std::size_t lanes() const override;
  std::string waiting() const override;
  std::map<PartitionKey, std::size_t> moving() const override;

  Deadline request() const { return Deadline(on_.clock, request_limit); }
  Result<void> throttle(const std::vector<reassign::Move>& batch);
  Result<void> pause() const;
  Result<void> choose_folders(const std::vector<reassign::Move>& batch);
  std::vector<protocol::Reassignment> next_wishes() const;
  Result<void> unthrottle();
  Result<Bytes> arrived();  // of the moves under way
  Result<void> settle(const std::vector<reassign::Move>& batch);

  const Surroundings& on_;
  Pace& pace_;
  std::size_t brokers_;
  std::set<int> with_folders_;        // brokers with several log directories
  std::vector<reassign::Move> left_;  // of the batch; outlives it, for cancel()
  std::set<PartitionKey> asked_;      // of these
  std::size_t batch_size_ = 0;
  std::size_t of_a_leader_ = 1;  // under way at a time
  SteadyTime last_asked_;
  SteadyTime last_change_;
  std::set<std::string> finished_;  // topics that are throttled for finished moves
  SteadyTime last_unthrottled_;
  std::map<int, Arrived> arrived_;  // by broker, when it last told
};

}  // namespace pilot::adaptors::kafka::rebalance
