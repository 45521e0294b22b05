#include "adaptors/framework/kafka/rebalance/rate_policy.hpp"

#include <algorithm>

namespace pilot::adaptors::kafka::rebalance {

namespace {

constexpr Rate least = 2u << 20;
constexpr Rate beside_producers = 2u << 20;
constexpr Rate alone = 32u << 20;
constexpr Rate most = 1u << 30;
constexpr Duration noise = std::chrono::milliseconds(10);
constexpr double used = 0.6;  // of the rate: then the rate is what limits

constexpr double unharmed = 0.85;

}  // namespace

RatePolicy::RatePolicy(Duration round_trip, double produced)
    : calm_(round_trip), produced_(produced), rate_(produced > notable ? beside_producers : alone) {}

bool RatePolicy::suffers(const Look& look) const {
  if (produced_ > notable && look.produced < unharmed * produced_) return true;
  return look.others_fell_behind || look.round_trip > 3 * calm_ + noise;
}

Rate RatePolicy::next(const Look& look) {
  if (suffers(look)) {
    if (rate_ == least) produced_ = look.produced;
    rate_ = std::max(least, rate_ / 2);
  } else if (look.bytes_per_second >= used * static_cast<double>(rate_)) {
    rate_ = std::min(most, rate_ * 2);
  }
  return rate_;
}

}  // namespace pilot::adaptors::kafka::rebalance
