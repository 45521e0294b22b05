#include "miniapps/processors/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace miniapps::processors {
namespace {

using std::chrono::nanoseconds;

// Values spread over all magnitudes, as latencies are.
std::vector<std::int64_t> values(int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, 40);
  std::vector<std::int64_t> result;
  for (int i = 0; i < count; ++i) result.push_back(static_cast<std::int64_t>(std::exp2(exponent(random))));
  return result;
}

TEST(LatencyHistogram, BucketsTileTheWholeRangeWithoutGapOrOverlap) {
  EXPECT_EQ(LatencyHistogram::lower_bound(0), 0u);
  for (std::size_t i = 0; i + 1 < LatencyHistogram::bucket_count; ++i) {
    const auto low = LatencyHistogram::lower_bound(i), high = LatencyHistogram::upper_bound(i);
    ASSERT_LE(low, high);
    ASSERT_EQ(high + 1, LatencyHistogram::lower_bound(i + 1));
    ASSERT_EQ(LatencyHistogram::bucket_of(low), i);
    ASSERT_EQ(LatencyHistogram::bucket_of(high), i);
    if (low >= 32) {
      ASSERT_LE(static_cast<double>(high - low), static_cast<double>(low) / 32);
    }
  }
  EXPECT_EQ(LatencyHistogram::bucket_of(UINT64_MAX), LatencyHistogram::bucket_count - 1);
}

TEST(LatencyHistogram, QuantilesAreWithinOneThirtySecondOfTheSortedValues) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto sorted = values(1 + static_cast<int>(seed) * 97, seed);
    LatencyHistogram histogram;
    for (auto v : sorted) histogram.record(nanoseconds(v));
    std::sort(sorted.begin(), sorted.end());
    for (double q : {0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 1.0}) {
      const auto rank = std::max(1.0, std::ceil(q * static_cast<double>(sorted.size())));
      const auto truth = static_cast<double>(sorted[static_cast<std::size_t>(rank) - 1]);
      ASSERT_NEAR(static_cast<double>(histogram.quantile(q).count()), truth, truth / 32 + 1) << q;
    }
    EXPECT_EQ(histogram.min().count(), sorted.front());
    EXPECT_EQ(histogram.max().count(), sorted.back());
  }
}

TEST(LatencyHistogram, MergingPartsGivesWhatOneHistogramCounts) {
  LatencyHistogram whole, merged;
  std::array<LatencyHistogram, 3> parts;
  const auto all = values(3000, 7);
  for (std::size_t i = 0; i < all.size(); ++i) {
    whole.record(nanoseconds(all[i]));
    parts[i % 3].record(nanoseconds(all[i]));
  }
  for (const auto& part : parts) merged.merge(part);
  EXPECT_EQ(merged.buckets(), whole.buckets());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
  EXPECT_NEAR(static_cast<double>(merged.mean().count()), static_cast<double>(whole.mean().count()), 1e3);
  LatencyHistogram unchanged = merged;
  unchanged.merge(LatencyHistogram{});
  EXPECT_EQ(unchanged, merged);
}

TEST(LatencyHistogram, BucketsAndExtremesRestoreIt) {
  LatencyHistogram histogram, restored;
  for (auto v : values(500, 3)) histogram.record(nanoseconds(v));
  for (const auto& bucket : histogram.buckets()) restored.add_bucket(bucket.lower_ns, bucket.count);
  restored.widen(histogram.min(), histogram.max(), histogram.mean());
  EXPECT_EQ(restored.buckets(), histogram.buckets());
  EXPECT_EQ(restored.quantile(0.95), histogram.quantile(0.95));
  EXPECT_EQ(restored.max(), histogram.max());
}

TEST(LatencyHistogram, EmptyAndNegativeValues) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5).count(), 0);
  EXPECT_EQ(histogram.mean().count(), 0);
  histogram.record(nanoseconds(-5));
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.quantile(1).count(), 0);
}

}  // namespace
}  // namespace miniapps::processors
