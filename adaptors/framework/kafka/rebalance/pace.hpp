// How much is moved, how fast it goes and how fast it may go: one account for all moves of a run.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "adaptors/framework/kafka/rebalance/observation.hpp"
#include "adaptors/framework/kafka/rebalance/rate_policy.hpp"
#include "adaptors/framework/kafka/rebalance/rebalance.hpp"

namespace pilot::adaptors::kafka::rebalance {

// For every request that is not part of a longer wait.
inline constexpr Duration request_limit = std::chrono::seconds(30);

// How many changes are asked of a cluster at once, and how long it is left alone in between.  Every broker
// hears of every change, and the clients of a partition wait while its replicas are made, follow anew or are
// led by another: on two cores a change was felt for 80 ms, and those that overlapped for seconds
// (tests/bench/elastic/move_bench).
struct Portions {
  bool gentle = false;  // somebody produces, and there is time

  // Of `all` changes, on so many brokers.
  std::size_t size(std::size_t brokers, std::size_t all) const;
  // Under way at a time of the moves of a leader, if it has `all`.
  std::size_t of_a_leader(std::size_t all) const { return gentle ? 1 + all / rounds : all; }
  Duration pause() const { return std::chrono::milliseconds(gentle ? 400 : 150); }
  // Between the settings of two brokers.
  Duration pause_between(std::size_t brokers) const {
    const Duration whole = std::chrono::seconds(1);
    return gentle ? std::min<Duration>(std::chrono::milliseconds(100), whole / (1 + brokers)) : Duration{0};
  }

 private:
  static constexpr std::size_t rounds = 25;  // more would last
};

// What is under way.
class Work {
 public:
  virtual ~Work() = default;
  virtual bool done() const = 0;
  // Whether there is more to ask for, or will be in a moment.
  virtual Result<bool> ask_for_more() { return false; }
  virtual Result<bool> look() = 0;          // whether anything went on
  virtual std::size_t lanes() const = 0;    // brokers that can send and receive at the same time for it
  virtual std::string waiting() const = 0;  // what waits, as part of a sentence
  virtual std::map<PartitionKey, std::size_t> moving() const = 0;  // with the followers it has meanwhile
};

// What producers write, by how partitions grow between two looks.
class Ingest {
 public:
  void look(const Observation& seen, SteadyTime now);
  double of(const PartitionKey& partition) const;  // bytes per second
  double total() const;
  const std::map<PartitionKey, int>& leaders() const { return leaders_; }

 private:
  SteadyTime at_;
  std::map<PartitionKey, std::uint64_t> sizes_;
  std::map<PartitionKey, double> grows_;
  std::map<PartitionKey, int> leaders_;
};

class Pace {
 public:
  Pace(const Surroundings& surroundings, const Options& options, const Observation& start);

  void expect(std::size_t moves, Bytes bytes);
  void finished(Bytes bytes);      // one move
  void advanced(Bytes under_way);  // arrived, of moves under way
  bool throttles() const { return progress_.throttle.has_value(); }
  const Progress& progress() const { return progress_; }
  std::set<int> throttled() const;  // brokers

  // Sets the throttle of all brokers, and before the first time measures what they can spare.
  Result<void> throttle(const Work& work);

  // Producers are known once throttle() has measured.  Who wants no throttle is in a hurry, and so are those
  // whose brokers go in any case.
  Portions portions() const { return {!options_.as_far_as_possible && ingest_.total() > notable}; }
  // As last seen; the first replica of a partition that was not.
  int leader_of(const reassign::Move& move) const;
  // When a move goes on so little, it shall not hold up what waits behind it.
  Duration stuck_after() const { return std::min<Duration>(std::chrono::seconds(10), options_.patience / 4); }

  // Until the work is done, with reports.  Errors: partial, when stopped or stalled.
  Result<void> watch(Work& work);

 private:
  Deadline request() const { return Deadline(on_.clock, request_limit); }
  Result<void> measure();
  Result<void> set_rates(const Work& work);
  std::map<int, double> sent_anyway(const Work& work) const;
  void report();
  void adapt(const Work& work);
  bool fell_behind(const Work& work, const Observation& seen) const;

  const Surroundings& on_;
  const Options& options_;
  std::set<PartitionKey> behind_at_start_;
  std::set<int> up_;
  std::map<int, std::optional<BrokerRates>> rates_;  // as set; none: it did not answer
  SteadyTime start_;
  std::optional<Bytes> at_start_;  // of what a predecessor moved
  Progress progress_;
  Bytes done_;  // moved by finished moves
  std::optional<RatePolicy> policy_;
  std::optional<SteadyTime> last_adapted_;
  Bytes moved_then_;
  Duration slowest_{0};     // round trip since then
  Duration look_takes_{0};  // at the whole cluster
  Ingest ingest_;
};

}  // namespace pilot::adaptors::kafka::rebalance
