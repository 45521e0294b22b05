// Carries out batches of moves: throttles, submits, watches, cancels.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "adaptors/framework/kafka/rebalance/observation.hpp"
#include "adaptors/framework/kafka/rebalance/rate_policy.hpp"
#include "adaptors/framework/kafka/rebalance/rebalance.hpp"

namespace pilot::adaptors::kafka::rebalance {

// For every request that is not part of a longer wait.
inline constexpr Duration request_limit = std::chrono::seconds(30);

class Mover {
 public:
  Mover(const Surroundings& surroundings, const Options& options, const Observation& start);

  // More that run() will be given.
  void expect(const std::vector<reassign::Move>& moves);

  // Until all are done and the metadata shows it.  `submitted`: they are under way already.
  // Errors: partial, when stopped or stalled; the administrator's.  Then cancel() is due.
  Result<void> run(const std::vector<reassign::Move>& batch, bool submitted);

  // Cancels what run() left under way and waits until it is.
  Result<void> cancel();

  const std::set<int>& throttled() const { return throttled_; }  // brokers

  const Progress& progress() const { return progress_; }

 private:
  Deadline request() const { return Deadline(on_.clock, request_limit); }
  Result<void> throttle(const std::vector<reassign::Move>& batch);
  Result<void> set_rate(Rate rate);
  Result<void> submit(const std::vector<reassign::Move>& batch);
  Result<void> watch();
  Result<bool> look();      // whether anything went on
  Result<Bytes> arrived();  // of the moves under way
  void report();
  void adapt();
  Result<void> settle(const std::vector<reassign::Move>& batch);
  Error stalled(const std::string& cause) const;

  const Surroundings& on_;
  const Options& options_;
  std::set<PartitionKey> behind_at_start_;
  std::set<int> up_;
  std::set<int> throttled_;
  SteadyTime start_;
  std::optional<Bytes> at_start_;  // of what a predecessor moved
  Progress progress_;
  Bytes done_;                        // moved by finished moves
  std::vector<reassign::Move> left_;  // of the batch; outlives it, for cancel()
  std::optional<RatePolicy> policy_;
  SteadyTime last_adapted_;
  Bytes moved_then_;
};

}  // namespace pilot::adaptors::kafka::rebalance
