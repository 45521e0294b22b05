// Moves replicas until a cluster is as wished, and leaves nothing behind on the way.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/protocol/administrator.hpp"
#include "adaptors/framework/kafka/rebalance/throttle.hpp"
#include "pilot/base/units.hpp"

namespace pilot::adaptors::kafka::rebalance {

enum class Throttling { automatic, fixed, none };

struct Options {
  std::vector<int> keep;   // empty: all that are up and not drained
  std::vector<int> drain;  // also ones that are down for good
  Throttling throttling = Throttling::automatic;
  Rate rate = 0;                                // with fixed
  Duration patience = std::chrono::minutes(2);  // without any progress
  bool unregister = true;                       // drained brokers that are down
  bool as_far_as_possible = false;              // the drained brokers go in any case; see reassign::Wish
  std::size_t batch_moves = 200;
  Bytes batch_bytes{16ull << 30};
};

struct Progress {
  Bytes moved;
  Bytes total;
  std::size_t moves_done = 0;
  std::size_t moves = 0;
  double bytes_per_second = 0;   // since the start, by this run
  std::optional<Duration> eta;   // unknown before anything moved
  std::optional<Rate> throttle;  // per broker
};

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void step(const std::string& sentence) = 0;
  virtual void progress(const Progress& progress) = 0;  // at each look
};

struct Outcome {
  Progress progress;
  std::size_t elected = 0;  // partitions led by their first replica again
  int released = 0;         // brokers and topics that had throttles at the end
  std::vector<int> unregistered;
  std::map<int, std::map<std::string, Bytes>> folders;  // of brokers with several log directories, by path
};

struct Surroundings {
  protocol::Administrator& cluster;
  const Clock& clock;
  Reporter& reporter;
  std::function<bool(Duration)> wait;  // false: the user wants an end
};

// Works from what it observes only, so it may be killed anywhere and called again:  waits a little for
// brokers that hold replicas and are away, takes over reassignments that are under way, cordons the brokers
// to drain, plans, moves in batches under a throttle, looks again until no drained broker is listed or holds
// anything (topics made meanwhile included), elects preferred leaders, evens out the log directories within
// each kept broker (reassign/folders.hpp) unless others are emptied, which may be urgent, takes off all
// throttles, its own and a killed predecessor's, and reads them back.
// After an error, or when told to stop, what is under way is cancelled, which leaves those partitions where
// they were; cordons and throttles are taken off too.  Finished moves stay.
// A broker to keep that is not up keeps what is listed there, and gets nothing.  As far as possible: nobody
// who is away is waited for before the first moves, but after them, when replicas have no place.
// Errors: usage (the plan is refused; a broker to keep is not up and holds nothing); partial (stopped,
// stalled for longer than options.patience, a throttle that stays, replicas without a place), with the
// reason; unavailable, timed_out, failed before anything was changed.
Result<Outcome> rebalance(const Surroundings& surroundings, const Options& options);

// What stands against rebalance() as the cluster is now, with the numbers: more replicas than brokers that
// stay, disks that are too small.  Empty: nothing.  Changes nothing.  Errors: unavailable, timed_out.
Result<std::string> objection(const Surroundings& surroundings, const Options& options);

}  // namespace pilot::adaptors::kafka::rebalance
