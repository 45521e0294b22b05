#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <thread>

#include "miniapps/kernels/testing.hpp"

namespace miniapps::kernels::testing {
namespace {

struct FreeModel {
  void operator()(pk_kmeans_model* p) const { pk_kmeans_destroy(p); }
};
struct FreePartial {
  void operator()(pk_kmeans_partial* p) const { pk_kmeans_partial_destroy(p); }
};
using Model = std::unique_ptr<pk_kmeans_model, FreeModel>;
using Partial = std::unique_ptr<pk_kmeans_partial, FreePartial>;

Model make_model(int k, int d, const double* centres, const double* weights = nullptr) {
  pk_kmeans_model* model = nullptr;
  pk_error error{};
  EXPECT_EQ(pk_kmeans_create(k, d, centres, weights, &model, &error), PK_OK) << error.message;
  return Model(model);
}
Partial make_partial(int k, int d) {
  pk_kmeans_partial* partial = nullptr;
  EXPECT_EQ(pk_kmeans_partial_create(k, d, &partial, nullptr), PK_OK);
  return Partial(partial);
}

struct State {
  std::vector<double> sums;
  std::vector<std::int64_t> counts;
  std::int64_t skipped = 0;
  double inertia = 0;
};
State state_of(const Partial& partial, int k, int d) {
  State s{std::vector<double>(std::size_t(k) * d), std::vector<std::int64_t>(k)};
  pk_kmeans_partial_get(partial.get(), s.sums.data(), s.counts.data(), &s.skipped, &s.inertia);
  return s;
}

// km_expected.csv: decay, unit, initial weight, batch, cluster, count, weight, three coordinates, split
// happened.
TEST(StreamingKmeans, FollowsMllibsRule) {
  const auto points = fixture<double>("kmeans/km_points_f64.bin", 4 * 500 * 3),
             init = fixture<double>("kmeans/km_init_f64.bin", 4 * 3);
  std::ifstream file(PILOT_SOURCE_DIR "/tests/fixtures/kmeans/km_expected.csv");
  std::string line;
  std::getline(file, line);
  std::map<std::string, std::vector<std::vector<double>>> settings;
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::stringstream stream(line);
    for (std::string f; std::getline(stream, f, ',');) fields.push_back(f);
    std::vector<double> row;
    for (std::size_t i = 3; i < fields.size(); ++i) row.push_back(std::stod(fields[i]));
    settings[fields[0] + "," + fields[1] + "," + fields[2]].push_back(row);
  }
  ASSERT_EQ(settings.size(), 5u);
  int batches_compared = 0;
  for (const auto& [name, rows] : settings) {
    SCOPED_TRACE(name);
    std::stringstream stream(name);
    std::string decay, unit, weight;
    std::getline(stream, decay, ',');
    std::getline(stream, unit, ',');
    std::getline(stream, weight, ',');
    const std::vector<double> weights(4, std::stod(weight));
    Model model = make_model(4, 3, init.data(), weights.data());
    Partial partial = make_partial(4, 3);
    bool split = false;
    for (int batch = 0; batch < 4 && !split; ++batch) {
      pk_kmeans_partial_clear(partial.get());
      ASSERT_EQ(pk_kmeans_assign_f64(model.get(), partial.get(), points.data() + batch * 1500, 500, nullptr,
                                     nullptr),
                PK_OK);
      const State state = state_of(partial, 4, 3);
      ASSERT_EQ(pk_kmeans_update(model.get(), partial.get(),
                                 unit == "points" ? PK_KMEANS_DECAY_POINTS : PK_KMEANS_DECAY_BATCHES,
                                 std::stod(decay), nullptr),
                PK_OK);
      std::vector<double> centres(12), after(4);
      pk_kmeans_get(model.get(), nullptr, nullptr, centres.data(), after.data());
      for (int c = 0; c < 4; ++c) {
        const std::vector<double>& row = rows[batch * 4 + c];
        ASSERT_EQ(row[0], batch);
        ASSERT_EQ(row[1], c);
        EXPECT_EQ(state.counts[c], row[2]);
        EXPECT_NEAR(after[c], row[3], 1e-9 * (1 + row[3]));
        for (int j = 0; j < 3; ++j)
          EXPECT_NEAR(centres[c * 3 + j], row[4 + j], 1e-11 * (1 + std::abs(row[4 + j])));
        split = split || row[7] == 1;
      }
      ++batches_compared;
    }
  }
  EXPECT_GE(batches_compared, 10);
}

TEST(StreamingKmeans, FollowsScikitLearnsMiniBatchRule) {
  const auto points = fixture<double>("kmeans/km_points_f64.bin", 4 * 500 * 3);
  const auto init = fixture<double>("kmeans/km_sklearn_init_f64.bin", 9),
             wanted = fixture<double>("kmeans/km_sklearn_k3_counts_centers_f64.bin", 4 * 3 * 4);
  Model model = make_model(3, 3, init.data());
  Partial partial = make_partial(3, 3);
  for (int batch = 0; batch < 4; ++batch) {
    pk_kmeans_partial_clear(partial.get());
    ASSERT_EQ(
        pk_kmeans_assign_f64(model.get(), partial.get(), points.data() + batch * 1500, 500, nullptr, nullptr),
        PK_OK);
    ASSERT_EQ(pk_kmeans_update(model.get(), partial.get(), PK_KMEANS_MINI_BATCH, 0, nullptr), PK_OK);
    std::vector<double> centres(9), weights(3);
    pk_kmeans_get(model.get(), nullptr, nullptr, centres.data(), weights.data());
    for (int c = 0; c < 3; ++c) {
      EXPECT_EQ(weights[c], wanted[(batch * 3 + c) * 4]);
      for (int j = 0; j < 3; ++j) EXPECT_NEAR(centres[c * 3 + j], wanted[(batch * 3 + c) * 4 + 1 + j], 1e-12);
    }
  }
}

// Recorded states of scikit-learn: [batch + 1][12][count, centre]; each batch starts from the recorded one,
// as its random numbers are not ours.
TEST(StreamingKmeans, MovesLightCentresAsScikitLearn) {
  constexpr int k = 12, d = 3, n = 500;
  const auto points = fixture<double>("kmeans/km_points_f64.bin", 4 * n * d),
             states = fixture<double>("kmeans/km_sklearn_reassign_f64.bin", 5 * k * (1 + d));
  int moved_in_all = 0;
  for (int batch = 0; batch < 4; ++batch) {
    const double* const before = &states[batch * k * (1 + d)];
    const double* const wanted = before + k * (1 + d);
    const double* const first = &points[batch * n * d];
    const auto is_point = [&](const double* x) {
      for (int p = 0; p < n; ++p)
        if (std::equal(x, x + d, first + p * d)) return true;
      return false;
    };
    std::vector<double> centres(k * d), weights(k);
    for (int c = 0; c < k; ++c) {
      weights[c] = before[c * (1 + d)];
      std::copy_n(before + c * (1 + d) + 1, d, &centres[c * d]);
    }
    Model model = make_model(k, d, centres.data(), weights.data());
    Partial partial = make_partial(k, d);
    EXPECT_EQ(pk_kmeans_reassign_due(model.get(), n), 1);
    ASSERT_EQ(pk_kmeans_assign_f64(model.get(), partial.get(), first, n, nullptr, nullptr), PK_OK);
    ASSERT_EQ(pk_kmeans_update(model.get(), partial.get(), PK_KMEANS_MINI_BATCH, 0, nullptr), PK_OK);
    std::int32_t moved = -1;
    ASSERT_EQ(pk_kmeans_reassign_f64(model.get(), first, n, 0.2, 5, &moved, nullptr), PK_OK);
    pk_kmeans_get(model.get(), nullptr, nullptr, centres.data(), weights.data());
    int theirs = 0;
    for (int c = 0; c < k; ++c) {
      EXPECT_EQ(weights[c], wanted[c * (1 + d)]) << batch << " " << c;
      const bool was_moved = is_point(wanted + c * (1 + d) + 1);
      EXPECT_EQ(is_point(&centres[c * d]), was_moved) << batch << " " << c;
      theirs += was_moved;
      for (int j = 0; j < d && !was_moved; ++j)
        EXPECT_NEAR(centres[c * d + j], wanted[c * (1 + d) + 1 + j], 1e-12);
    }
    EXPECT_EQ(moved, theirs);
    moved_in_all += moved;
  }
  EXPECT_GE(moved_in_all, 4);
}

TEST(StreamingKmeans, MovesCentresToDifferentFinitePoints) {
  const std::vector<double> centres(8, 0.0), weights = {100, 0, 0, 0.5, 2, 0, 0, 7};
  const std::vector<float> points = {NAN, 11, 12, 13, INFINITY, 14, 15, 16, 17, 18};
  const auto move = [&](std::int64_t n, std::uint64_t seed) {
    Model model = make_model(8, 1, centres.data(), weights.data());
    std::int32_t moved = -1;
    EXPECT_EQ(pk_kmeans_reassign_f32(model.get(), points.data(), n, 0.01, seed, &moved, nullptr), PK_OK);
    std::vector<double> c(8), w(8);
    pk_kmeans_get(model.get(), nullptr, nullptr, c.data(), w.data());
    EXPECT_EQ(moved, 8 - std::count(c.begin(), c.end(), 0.0));
    return std::pair(c, w);
  };
  const auto [c, w] = move(10, 1);
  EXPECT_EQ(w, (std::vector<double>{100, 2, 2, 2, 2, 2, 2, 7}));
  std::vector<double> places = {c[1], c[2], c[3], c[5], c[6]};
  for (double x : places) EXPECT_TRUE(x >= 11 && x <= 18) << x;
  std::sort(places.begin(), places.end());
  EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end()) << "one point twice";
  EXPECT_EQ(move(10, 1).first, c);
  EXPECT_NE(move(10, 2).first, c);
  // Half as many as points, the lightest first; none without points.
  const auto [few, light] = move(4, 1);
  EXPECT_EQ(std::count(few.begin(), few.end(), 0.0), 6);
  EXPECT_EQ(light, weights) << "the least of the others is 0";
  EXPECT_EQ(move(1, 1).first, centres);
  EXPECT_EQ(move(0, 1).first, centres);
  Model model = make_model(8, 1, centres.data(), std::vector<double>(8, 1.0).data());
  EXPECT_EQ(pk_kmeans_reassign_due(model.get(), 79), 0);
  EXPECT_EQ(pk_kmeans_reassign_due(model.get(), 80), 1);
  EXPECT_EQ(pk_kmeans_reassign_f32(model.get(), points.data(), 10, 1.5, 0, nullptr, nullptr),
            PK_INVALID_ARGUMENT);
}

TEST(StreamingKmeans, ADyingClusterTakesHalfOfTheGreatest) {
  const double centres[] = {0, 100, 5}, weights[] = {1000, 1e-9, 10};
  Model model = make_model(3, 1, centres, weights);
  ASSERT_EQ(pk_kmeans_update(model.get(), make_partial(3, 1).get(), PK_KMEANS_DECAY_BATCHES, 1.0, nullptr),
            PK_OK);
  double c[3], w[3];
  pk_kmeans_get(model.get(), nullptr, nullptr, c, w);
  EXPECT_EQ(w[0], (1000 + 1e-9) / 2);
  EXPECT_EQ(w[1], w[0]);
  EXPECT_EQ(w[2], 10);
  EXPECT_EQ(c[0], 1e-14);
  EXPECT_EQ(c[1], -1e-14);
  EXPECT_NEAR(pk_kmeans_decay_of_half_life(5), std::pow(0.5, 0.2), 1e-15);
}

template <typename T>
pk_status assign(const Model& m, const Partial& p, const std::vector<T>& points, std::int64_t n,
                 std::int32_t* labels) {
  if constexpr (sizeof(T) == 4)
    return pk_kmeans_assign_f32(m.get(), p.get(), points.data(), n, labels, nullptr);
  else
    return pk_kmeans_assign_f64(m.get(), p.get(), points.data(), n, labels, nullptr);
}

// Against the plain double loop, over shapes that exercise every path of the blocks.
template <typename T>
void check_labels() {
  std::mt19937 random(3);
  const int shapes[][3] = {{1, 1, 1},  {7, 1, 130},   {10, 3, 5000}, {3, 2, 77},     {100, 32, 700},
                           {5, 4, 64}, {64, 17, 333}, {2, 1024, 70}, {4096, 2, 100}, {11, 5, 1}};
  for (const auto& [k, d, n] : shapes) {
    SCOPED_TRACE(std::to_string(k) + " " + std::to_string(d));
    std::vector<double> centres(std::size_t(k) * d);
    for (double& v : centres) v = std::normal_distribution<float>()(random);
    std::vector<T> points(std::size_t(n) * d);
    for (T& v : points) v = std::normal_distribution<float>()(random);
    if (n > 60) points[50 * d] = NAN, points[7 * d + d - 1] = INFINITY;
    Model model = make_model(k, d, centres.data());
    for_each_isa([&](const std::string&) {
      Partial partial = make_partial(k, d);
      std::vector<std::int32_t> labels(n, -9);
      ASSERT_EQ(assign(model, partial, points, n, labels.data()), PK_OK);
      std::vector<std::int64_t> counts(k);
      std::vector<double> sums(centres.size());
      double inertia = 0;
      for (int p = 0; p < n; ++p) {
        const auto distance = [&](int c) {
          double sum = 0;
          for (int j = 0; j < d; ++j) sum += std::pow(double(points[p * d + j]) - centres[c * d + j], 2);
          return sum;
        };
        if (!std::isfinite(distance(0))) {
          ASSERT_EQ(labels[p], -1);
          continue;
        }
        ASSERT_GE(labels[p], 0);
        ASSERT_LT(labels[p], k);
        double best = distance(0);
        for (int c = 1; c < k; ++c) best = std::min(best, distance(c));
        ASSERT_LE(distance(labels[p]), best * (sizeof(T) == 4 ? 1 + 1e-5 : 1 + 1e-13)) << p;
        ++counts[labels[p]];
        for (int j = 0; j < d; ++j) sums[labels[p] * d + j] += points[p * d + j];
        inertia += best;
      }
      const State state = state_of(partial, k, d);
      EXPECT_EQ(state.counts, counts);
      EXPECT_EQ(state.skipped, n > 60 ? 2 : 0);
      EXPECT_NEAR(state.inertia, inertia, 1e-4 * inertia + 1e-9);
      for (std::size_t i = 0; i < sums.size(); ++i)
        ASSERT_NEAR(state.sums[i], sums[i], 1e-9 * (1 + std::abs(sums[i])));
    });
  }
}
TEST(StreamingKmeans, FindsTheNearestCentreF32) {
  check_labels<float>();
}
TEST(StreamingKmeans, FindsTheNearestCentreF64) {
  check_labels<double>();
}

TEST(StreamingKmeans, TiesGoToTheLowestIndex) {
  const double centres[] = {5, 1, -1, 1, 1};
  Model model = make_model(5, 1, centres);
  for_each_isa([&](const std::string&) {
    Partial partial = make_partial(5, 1);
    const std::vector<float> points = {1, 0, 0, 3, -4};
    std::vector<std::int32_t> labels(5);
    ASSERT_EQ(assign(model, partial, points, 5, labels.data()), PK_OK);
    EXPECT_EQ(labels, (std::vector<std::int32_t>{1, 1, 1, 0, 2}));
  });
}

TEST(StreamingKmeans, WorkersTogetherGiveTheResultOfOneInAnyOrder) {
  const int k = 20, d = 6, n = 9001;
  std::mt19937 random(9);
  std::vector<double> centres(k * d);
  for (double& v : centres) v = std::normal_distribution<>()(random);
  std::vector<float> points(n * d);
  for (float& v : points) v = std::normal_distribution<float>()(random);
  Model model = make_model(k, d, centres.data());
  Partial whole = make_partial(k, d);
  ASSERT_EQ(assign(model, whole, points, n, nullptr), PK_OK);
  std::vector<Partial> parts;
  for (int t = 0; t < 4; ++t) parts.push_back(make_partial(k, d));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const int begin = n * t / 4, end = n * (t + 1) / 4;
      EXPECT_EQ(pk_kmeans_assign_f32(model.get(), parts[t].get(), points.data() + std::size_t(begin) * d,
                                     end - begin, nullptr, nullptr),
                PK_OK);
    });
  for (std::thread& t : threads) t.join();
  Partial merged = make_partial(k, d);
  for (int t : {2, 0, 3}) ASSERT_EQ(pk_kmeans_partial_merge(merged.get(), parts[t].get(), nullptr), PK_OK);
  const State last = state_of(parts[1], k, d);  // this one came over the network
  ASSERT_EQ(pk_kmeans_partial_add(merged.get(), last.sums.data(), last.counts.data(), last.skipped,
                                  last.inertia, nullptr),
            PK_OK);
  const State a = state_of(whole, k, d), b = state_of(merged, k, d);
  EXPECT_EQ(a.counts, b.counts);
  for (std::size_t i = 0; i < a.sums.size(); ++i) EXPECT_NEAR(a.sums[i], b.sums[i], 1e-10);
  EXPECT_NEAR(a.inertia, b.inertia, 1e-9 * a.inertia);
  // A permutation of the points changes nothing either.
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<float> mixed(points.size());
  for (int i = 0; i < n; ++i) std::copy_n(&points[std::size_t(order[i]) * d], d, &mixed[std::size_t(i) * d]);
  Partial permuted = make_partial(k, d);
  ASSERT_EQ(assign(model, permuted, mixed, n, nullptr), PK_OK);
  EXPECT_EQ(state_of(permuted, k, d).counts, a.counts);
}

TEST(StreamingKmeans, StartsFromSeededCentres) {
  std::vector<double> a(30), b(30), c(30);
  ASSERT_EQ(pk_kmeans_random_centres(10, 3, 5, a.data(), nullptr), PK_OK);
  ASSERT_EQ(pk_kmeans_random_centres(10, 3, 5, b.data(), nullptr), PK_OK);
  ASSERT_EQ(pk_kmeans_random_centres(10, 3, 6, c.data(), nullptr), PK_OK);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  // Five far apart heaps: k-means++ takes one centre of each.
  std::mt19937 random(1);
  std::vector<float> points;
  for (int i = 0; i < 500; ++i)
    for (int j = 0; j < 3; ++j)
      points.push_back(float(i % 5 * 1000) + std::normal_distribution<float>()(random));
  points[3] = NAN;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<double> centres(15);
    ASSERT_EQ(pk_kmeans_plus_plus_f32(points.data(), 500, 5, 3, seed, centres.data(), nullptr), PK_OK);
    std::vector<int> heaps;
    for (int i = 0; i < 5; ++i) heaps.push_back(int(std::lround(centres[i * 3] / 1000)));
    std::sort(heaps.begin(), heaps.end());
    EXPECT_EQ(heaps, (std::vector<int>{0, 1, 2, 3, 4})) << seed;
  }
  const std::vector<double> bad(6, NAN);
  EXPECT_EQ(pk_kmeans_plus_plus_f64(bad.data(), 2, 1, 3, 0, a.data(), nullptr), PK_BAD_DATA);
}

TEST(StreamingKmeans, SavesAndLoadsAndRefusesDamage) {
  std::vector<double> centres(21), weights = {1, 2, 3, 4, 5, 6, 0.25};
  ASSERT_EQ(pk_kmeans_random_centres(7, 3, 1, centres.data(), nullptr), PK_OK);
  Model model = make_model(7, 3, centres.data(), weights.data());
  std::int64_t size = 0;
  ASSERT_EQ(pk_kmeans_save(model.get(), nullptr, &size, nullptr), PK_OK);
  std::vector<unsigned char> bytes(size);
  ASSERT_EQ(pk_kmeans_save(model.get(), bytes.data(), &size, nullptr), PK_OK);
  pk_kmeans_model* loaded = nullptr;
  ASSERT_EQ(pk_kmeans_load(bytes.data(), size, &loaded, nullptr), PK_OK);
  const Model owner(loaded);
  std::vector<double> c(21), w(7);
  pk_kmeans_get(loaded, nullptr, nullptr, c.data(), w.data());
  EXPECT_EQ(c, centres);
  EXPECT_EQ(w, weights);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= 0x10;
    pk_kmeans_model* none = nullptr;
    ASSERT_EQ(pk_kmeans_load(damaged.data(), size, &none, nullptr), PK_BAD_DATA) << i;
    ASSERT_EQ(pk_kmeans_load(bytes.data(), std::int64_t(i), &none, nullptr), PK_BAD_DATA) << i;
  }
}

TEST(StreamingKmeans, SaysWhatIsWrong) {
  pk_error error{};
  pk_kmeans_model* model = nullptr;
  const double centres[] = {0, NAN};
  EXPECT_EQ(pk_kmeans_create(0, 1, centres, nullptr, &model, &error), PK_INVALID_ARGUMENT);
  EXPECT_EQ(pk_kmeans_create(2, 1, centres, nullptr, &model, &error), PK_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("finite"), std::string::npos);
  Model good = make_model(1, 1, centres);
  EXPECT_EQ(pk_kmeans_update(good.get(), make_partial(2, 1).get(), 0, 1, &error), PK_INVALID_ARGUMENT);
  EXPECT_EQ(pk_kmeans_update(good.get(), make_partial(1, 1).get(), 0, -1, &error), PK_INVALID_ARGUMENT);
  EXPECT_EQ(pk_kmeans_update(good.get(), make_partial(1, 1).get(), 3, 1, &error), PK_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace miniapps::kernels::testing
