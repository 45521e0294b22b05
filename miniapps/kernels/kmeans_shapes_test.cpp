// K-means with any shape, any value and damaged bytes: for the sanitizers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "miniapps/kernels/testing.hpp"

namespace miniapps::kernels::testing {
namespace {

struct Destroy {
  void operator()(pk_kmeans_model* p) const { pk_kmeans_destroy(p); }
  void operator()(pk_kmeans_partial* p) const { pk_kmeans_partial_destroy(p); }
};
template <typename T>
using Held = std::unique_ptr<T, Destroy>;

pk_status assign_any(const pk_kmeans_model* m, pk_kmeans_partial* p, const float* points, std::int64_t n,
                     std::int32_t* labels) {
  return pk_kmeans_assign_f32(m, p, points, n, labels, nullptr);
}
pk_status assign_any(const pk_kmeans_model* m, pk_kmeans_partial* p, const double* points, std::int64_t n,
                     std::int32_t* labels) {
  return pk_kmeans_assign_f64(m, p, points, n, labels, nullptr);
}
pk_status start_any(const float* points, std::int64_t n, int k, int d, double* centres) {
  return pk_kmeans_plus_plus_f32(points, n, k, d, 1, centres, nullptr);
}
pk_status start_any(const double* points, std::int64_t n, int k, int d, double* centres) {
  return pk_kmeans_plus_plus_f64(points, n, k, d, 1, centres, nullptr);
}
pk_status reassign_any(pk_kmeans_model* m, const float* points, std::int64_t n) {
  return pk_kmeans_reassign_f32(m, points, n, 0.5, 1, nullptr, nullptr);
}
pk_status reassign_any(pk_kmeans_model* m, const double* points, std::int64_t n) {
  return pk_kmeans_reassign_f64(m, points, n, 0.5, 1, nullptr, nullptr);
}

using Random = std::mt19937;
int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

template <typename T>
std::vector<T> strange_points(Random& random, int n, int d) {
  std::vector<T> points(std::size_t(n) * d);
  for (T& v : points) v = std::normal_distribution<float>()(random);
  const T strange[] = {NAN, INFINITY, -INFINITY, std::numeric_limits<T>::denorm_min(), T(-0.0), T(1e6)};
  for (int i = 0; i < n / 4 && !points.empty(); ++i)
    points[pick(random, 0, int(points.size()) - 1)] = strange[pick(random, 0, 5)];
  return points;
}

template <typename T>
void one_round(Random& random) {
  const int k = pick(random, 1, 40), d = pick(random, 1, 40), n = pick(random, 0, 5) * pick(random, 0, 40);
  const auto points = strange_points<T>(random, n, d);
  std::vector<double> centres(std::size_t(k) * d);
  if (start_any(points.data(), n, k, d, centres.data()) != PK_OK) {
    ASSERT_EQ(pk_kmeans_random_centres(k, d, 1, centres.data(), nullptr), PK_OK);
  }
  pk_kmeans_model* made = nullptr;
  ASSERT_EQ(pk_kmeans_create(k, d, centres.data(), nullptr, &made, nullptr), PK_OK);
  const Held<pk_kmeans_model> model(made);
  pk_kmeans_partial* state = nullptr;
  ASSERT_EQ(pk_kmeans_partial_create(k, d, &state, nullptr), PK_OK);
  const Held<pk_kmeans_partial> partial(state);
  std::vector<std::int32_t> labels(n, -9), again(n, -9);
  std::vector<double> sums(centres.size()), repeated(centres.size());
  std::vector<std::int64_t> counts(k);
  std::int64_t skipped = 0;
  ASSERT_EQ(assign_any(made, state, points.data(), n, labels.data()), PK_OK);
  pk_kmeans_partial_get(state, sums.data(), counts.data(), &skipped, nullptr);
  for (const auto count : counts) skipped += count;
  EXPECT_EQ(skipped, n) << "every point is counted once";
  for (const double sum : sums) EXPECT_TRUE(std::isfinite(sum));
  pk_kmeans_partial_clear(state);
  ASSERT_EQ(assign_any(made, state, points.data(), n, again.data()), PK_OK);
  pk_kmeans_partial_get(state, repeated.data(), nullptr, nullptr, nullptr);
  EXPECT_EQ(labels, again);
  EXPECT_EQ(sums, repeated) << "the same bits from run to run";
  ASSERT_EQ(pk_kmeans_update(made, state, pick(random, 0, 2), 0.9, nullptr), PK_OK);
  if (n > 0) {
    EXPECT_EQ(reassign_any(made, points.data(), n), PK_OK);
  }
  pk_kmeans_get(made, nullptr, nullptr, centres.data(), nullptr);
  for (const double c : centres) ASSERT_TRUE(std::isfinite(c)) << k << " " << d << " " << n;
}

TEST(StreamingKmeans, TakesAnyShapeAndAnyValue) {
  Random random(5);
  for (int round = 0; round < 80; ++round) {
    one_round<float>(random);
    one_round<double>(random);
  }
}

// Squared distances are floats for float points: beyond their range nothing is near.
TEST(StreamingKmeans, FloatPointsTooFarToMeasureAreSkipped) {
  const double centre = 0;
  pk_kmeans_model* made = nullptr;
  pk_kmeans_partial* state = nullptr;
  ASSERT_EQ(pk_kmeans_create(1, 1, &centre, nullptr, &made, nullptr), PK_OK);
  ASSERT_EQ(pk_kmeans_partial_create(1, 1, &state, nullptr), PK_OK);
  const Held<pk_kmeans_model> model(made);
  const Held<pk_kmeans_partial> partial(state);
  std::int32_t labels[2];
  const float far[] = {3e38f, 1e19f};
  ASSERT_EQ(pk_kmeans_assign_f32(made, state, far, 2, labels, nullptr), PK_OK);
  EXPECT_EQ(labels[0], -1);
  EXPECT_EQ(labels[1], 0);
  const double as_double[] = {3e38, 1e19};
  ASSERT_EQ(pk_kmeans_assign_f64(made, state, as_double, 2, labels, nullptr), PK_OK);
  EXPECT_EQ(labels[0], 0);
}

TEST(StreamingKmeans, RefusesShapesBeyondItsLimits) {
  const std::vector<double> centres(4097);
  pk_kmeans_model* model = nullptr;
  pk_kmeans_partial* partial = nullptr;
  EXPECT_EQ(pk_kmeans_create(4097, 1, centres.data(), nullptr, &model, nullptr), PK_INVALID_ARGUMENT);
  EXPECT_EQ(pk_kmeans_create(1, 1025, centres.data(), nullptr, &model, nullptr), PK_INVALID_ARGUMENT);
  EXPECT_EQ(pk_kmeans_partial_create(1, 1025, &partial, nullptr), PK_INVALID_ARGUMENT);
  ASSERT_EQ(pk_kmeans_create(4, 1024, centres.data(), nullptr, &model, nullptr), PK_OK);
  pk_kmeans_destroy(model);
}

TEST(StreamingKmeans, DamagedBytesAreNeverAModel) {
  const double centres[] = {1, 2, 3, 4, 5, 6};
  pk_kmeans_model* made = nullptr;
  ASSERT_EQ(pk_kmeans_create(3, 2, centres, nullptr, &made, nullptr), PK_OK);
  const Held<pk_kmeans_model> model(made);
  std::int64_t size = 0;
  ASSERT_EQ(pk_kmeans_save(made, nullptr, &size, nullptr), PK_OK);
  std::vector<unsigned char> bytes(size);
  ASSERT_EQ(pk_kmeans_save(made, bytes.data(), &size, nullptr), PK_OK);
  Random random(6);
  for (int round = 0; round < 500; ++round) {
    auto damaged = bytes;
    for (int i = pick(random, 1, 8); i > 0; --i)
      damaged[pick(random, 0, int(size) - 1)] ^= static_cast<unsigned char>(pick(random, 1, 255));
    damaged.resize(pick(random, 0, 3) == 0 ? pick(random, 0, int(size) - 1) : size);
    if (damaged == bytes) continue;
    pk_kmeans_model* loaded = nullptr;
    EXPECT_NE(pk_kmeans_load(damaged.data(), std::int64_t(damaged.size()), &loaded, nullptr), PK_OK);
  }
}

}  // namespace
}  // namespace miniapps::kernels::testing
