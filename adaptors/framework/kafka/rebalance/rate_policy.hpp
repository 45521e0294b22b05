// `--throttle auto`: the rate follows what the cluster can spare.
#pragma once

#include "adaptors/framework/kafka/rebalance/throttle.hpp"
#include "pilot/base/clock.hpp"

namespace pilot::adaptors::kafka::rebalance {

// Starts at 32 MiB/s per broker, which a single disk or a 1 Gbit/s link bears beside its load.  At each look:
// half of it (not below 4 MiB/s) when the cluster suffers, that is when brokers take more than three times
// and 20 ms longer to answer than before the move, or partitions that do not move fell out of sync; twice as
// much (not above 1 GiB/s) when it does not suffer and the moves use most of what they may.  Pure.
class RatePolicy {
 public:
  explicit RatePolicy(Duration calm_round_trip) : calm_(calm_round_trip) {}

  Rate rate() const { return rate_; }

  struct Look {
    Duration round_trip;          // the median over the brokers
    bool others_fell_behind;      // partitions that do not move
    double bytes_per_second = 0;  // moved, by the busiest broker
  };
  // The new rate.
  Rate next(const Look& look);

  bool suffers(const Look& look) const;

 private:
  Duration calm_;
  Rate rate_ = 32u << 20;
};

}  // namespace pilot::adaptors::kafka::rebalance
