#include "miniapps/processors/latency_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace miniapps::processors {

namespace {
constexpr std::uint64_t parts = std::uint64_t{1} << LatencyHistogram::sub_bits;
}

std::size_t LatencyHistogram::bucket_of(std::uint64_t ns) {
  if (ns < parts) return ns;
  const int shift = std::bit_width(ns) - 1 - sub_bits;
  return (static_cast<std::size_t>(shift) + 1) * parts + ((ns >> shift) - parts);
}

std::uint64_t LatencyHistogram::lower_bound(std::size_t bucket) {
  if (bucket < parts) return bucket;
  const auto shift = bucket / parts - 1;
  return (parts + bucket % parts) << shift;
}

std::uint64_t LatencyHistogram::upper_bound(std::size_t bucket) {
  return bucket + 1 < bucket_count ? lower_bound(bucket + 1) - 1 : UINT64_MAX;
}

void LatencyHistogram::record(std::chrono::nanoseconds value) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
  ++counts_[bucket_of(ns)];
  ++count_;
  min_ = std::min(min_, ns);
  max_ = std::max(max_, ns);
  sum_ += static_cast<double>(ns);
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < bucket_count; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

std::chrono::nanoseconds LatencyHistogram::mean() const {
  if (count_ == 0) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(std::llround(sum_ / static_cast<double>(count_)));
}

std::chrono::nanoseconds LatencyHistogram::quantile(double q) const {
  if (count_ == 0) return std::chrono::nanoseconds(0);
  const auto wanted = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_))), 1,
      count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    seen += counts_[i];
    if (seen < wanted) continue;
    const auto low = lower_bound(i);
    const auto middle = low + (upper_bound(i) - low) / 2;
    return std::chrono::nanoseconds(std::clamp(middle, min_, max_));
  }
  return max();
}

std::vector<LatencyHistogram::Bucket> LatencyHistogram::buckets() const {
  std::vector<Bucket> result;
  for (std::size_t i = 0; i < bucket_count; ++i)
    if (counts_[i] != 0) result.push_back({lower_bound(i), upper_bound(i), counts_[i]});
  return result;
}

void LatencyHistogram::add_bucket(std::uint64_t lower_ns, std::uint64_t count) {
  if (count == 0) return;
  const auto bucket = bucket_of(lower_ns);
  counts_[bucket] += count;
  count_ += count;
}

void LatencyHistogram::widen(std::chrono::nanoseconds min, std::chrono::nanoseconds max,
                             std::chrono::nanoseconds mean) {
  if (count_ == 0) return;
  min_ = std::min(min_, static_cast<std::uint64_t>(std::max<std::int64_t>(min.count(), 0)));
  max_ = std::max(max_, static_cast<std::uint64_t>(std::max<std::int64_t>(max.count(), 0)));
  sum_ = static_cast<double>(mean.count()) * static_cast<double>(count_);
}

}  // namespace miniapps::processors
