// `--throttle auto`: the rate follows what the cluster can spare.
#pragma once

#include "adaptors/framework/kafka/rebalance/throttle.hpp"
#include "pilot/base/clock.hpp"

namespace pilot::adaptors::kafka::rebalance {

inline constexpr double notable = 100e3;  // bytes per second: below, nobody produces to speak of

// Starts at 2 MiB/s per broker beside producers, which a busy one bears too, and at 32 MiB/s when nobody
// produces. At each look: half of it (not below 2 MiB/s) when the cluster suffers; twice as much (not above 1
// GiB/s) when it does not and the moves use most of what they may.  It suffers when producers write less than
// 85 % of what they wrote before the move, when brokers took more than three times and 10 ms longer to
// answer, or when partitions that do not move fall out of sync. Producers that write less at the lowest rate
// still do so for their own reasons: that is the new measure. Pure.
class RatePolicy {
 public:
  // Before the move: the brokers' median round trip, bytes per second that producers write.
  RatePolicy(Duration round_trip, double produced);

  Rate rate() const { return rate_; }

  struct Look {
    Duration round_trip;          // the median over the brokers, the longest since the last look
    bool others_fell_behind;      // partitions that do not move
    double bytes_per_second = 0;  // moved, per broker that sends or receives
    double produced = 0;          // bytes per second
  };
  // The new rate.
  Rate next(const Look& look);

  bool suffers(const Look& look) const;

 private:
  Duration calm_;
  double produced_;
  Rate rate_;
};

}  // namespace pilot::adaptors::kafka::rebalance
