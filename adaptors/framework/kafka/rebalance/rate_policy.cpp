#include "adaptors/framework/kafka/rebalance/rate_policy.hpp"

#include <algorithm>

namespace pilot::adaptors::kafka::rebalance {

namespace {

constexpr Rate least = 4u << 20;
constexpr Rate most = 1u << 30;
constexpr Duration noise = std::chrono::milliseconds(20);
constexpr double used = 0.6;  // of the rate: then the rate is what limits

}  // namespace

bool RatePolicy::suffers(const Look& look) const {
  return look.others_fell_behind || look.round_trip > 3 * calm_ + noise;
}

Rate RatePolicy::next(const Look& look) {
  if (suffers(look)) {
    rate_ = std::max(least, rate_ / 2);
  } else if (look.bytes_per_second >= used * static_cast<double>(rate_)) {
    rate_ = std::min(most, rate_ * 2);
  }
  return rate_;
}

}  // namespace pilot::adaptors::kafka::rebalance
