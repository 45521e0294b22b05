// How much is moved, how fast it goes and how fast it may go: one account for all moves of a run.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "adaptors/framework/kafka/rebalance/observation.hpp"
#include "adaptors/framework/kafka/rebalance/rate_policy.hpp"
#include "adaptors/framework/kafka/rebalance/rebalance.hpp"

namespace pilot::adaptors::kafka::rebalance {

// For every request that is not part of a longer wait.
inline constexpr Duration request_limit = std::chrono::seconds(30);

// What is under way.
class Work {
 public:
  virtual ~Work() = default;
  virtual bool done() const = 0;
  virtual Result<bool> look() = 0;          // whether anything went on
  virtual std::size_t lanes() const = 0;    // brokers that can send and receive at the same time for it
  virtual std::string waiting() const = 0;  // what waits, as part of a sentence
  virtual std::set<PartitionKey> moving() const = 0;
};

class Pace {
 public:
  Pace(const Surroundings& surroundings, const Options& options, const Observation& start);

  void expect(std::size_t moves, Bytes bytes);
  void finished(Bytes bytes);      // one move
  bool advanced(Bytes under_way);  // arrived, of moves under way; false: no more than before
  bool throttles() const { return progress_.throttle.has_value(); }
  const Progress& progress() const { return progress_; }
  const std::set<int>& throttled() const { return throttled_; }  // brokers

  // Sets the throttle of all brokers, and before the first time measures what they can spare.
  Result<void> throttle();

  // Until the work is done, with reports.  Errors: partial, when stopped or stalled.
  Result<void> watch(Work& work);

 private:
  Deadline request() const { return Deadline(on_.clock, request_limit); }
  Result<void> choose_rate();
  Result<void> set_rate(Rate rate);
  void report();
  void adapt(const Work& work);

  const Surroundings& on_;
  const Options& options_;
  std::set<PartitionKey> behind_at_start_;
  std::set<int> up_;
  std::set<int> throttled_;
  SteadyTime start_;
  std::optional<Bytes> at_start_;  // of what a predecessor moved
  Progress progress_;
  Bytes done_;  // moved by finished moves
  std::optional<RatePolicy> policy_;
  SteadyTime last_adapted_;
  Bytes moved_then_;
  double stored_then_ = 0;
};

}  // namespace pilot::adaptors::kafka::rebalance
