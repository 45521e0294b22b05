#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

#include "miniapps/generators/clusters.hpp"
#include "miniapps/generators/random.hpp"
#include "miniapps/generators/scan.hpp"

namespace miniapps::generators {
namespace {

std::vector<float> fixture(const std::string& name, std::size_t count) {
  std::vector<float> values(count);
  std::ifstream file(std::string(PILOT_SOURCE_DIR "/tests/fixtures/tomo/") + name, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float)));
  EXPECT_EQ(static_cast<std::size_t>(file.gcount()), count * sizeof(float)) << name;
  return values;
}

TEST(Phantom, SinogramIsTheRecordedAnalyticOne) {
  const std::vector<float> wanted = fixture("sl128_sino_f32.bin", 180 * 128);
  std::vector<float> made(wanted.size());
  sinogram(section_at(shepp_logan(), 0), .95 * 64, even_angles(180, M_PI), 63.5, 128, made);
  for (std::size_t i = 0; i < made.size(); ++i) ASSERT_NEAR(made[i], wanted[i], 1e-4) << i;
}

TEST(Phantom, ImageIsTheRecordedOne) {
  const std::vector<float> wanted = fixture("sl128_phantom_f32.bin", 128 * 128);
  std::vector<float> made(wanted.size());
  rasterize(section_at(shepp_logan(), 0), .95 * 64, 128, 8, made);
  // Points that fall on an ellipse's edge may count differently: one of the 64 in a pixel.
  for (std::size_t i = 0; i < made.size(); ++i) ASSERT_NEAR(made[i], wanted[i], 1.01 / 64) << i;
}

TEST(Phantom, MassIsTheSameFromEveryAngle) {
  const Section section = section_at(dynamic_phantom(0.3), 0.1);
  std::vector<float> row(400);
  double mass = 0;
  for (const Ellipse& e : section) mass += e.value * M_PI * e.a * e.b * 150.0 * 150.0;
  for (double theta = 0; theta < 3; theta += .37) {
    projection(section, 150, theta, 200.3, row);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), mass, mass * 1e-3);
  }
}

TEST(RandomStream, PoissonHasTheRightMeanAndVariance) {
  for (double mean : {0.2, 4.0, 9.9, 10.1, 50.0, 3000.0}) {
    RandomStream random(7, static_cast<std::uint64_t>(mean * 10));
    double sum = 0, squares = 0;
    constexpr int n = 200000;
    for (int i = 0; i < n; ++i) {
      const double k = random.poisson(mean);
      sum += k;
      squares += (k - mean) * (k - mean);
    }
    EXPECT_NEAR(sum / n, mean, 6 * std::sqrt(mean / n));
    EXPECT_NEAR(squares / n / mean, 1.0, 0.03 + 2 / std::sqrt(n * mean));
  }
}

TEST(Scan, AnyThreadMakesTheSameBits) {
  ScanSpec spec;
  spec.columns = 96;
  spec.angles = 40;
  spec.slices = 6;
  spec.zingers = .01;
  spec.dead_pixels = .02;
  const Scan scan(spec);
  std::vector<std::vector<std::uint16_t>> alone(6, std::vector<std::uint16_t>(96 * 40)), shared = alone;
  for (int s = 0; s < 6; ++s) scan.raw_slice(s, 3, 0, alone[s]);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int s = 5 - t; s >= 0; s -= 3) scan.raw_slice(s, 3, 0, shared[s]);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(alone, shared);
  std::vector<std::uint16_t> other(96 * 40);
  scan.raw_slice(0, 4, 0, other);
  EXPECT_NE(alone[0], other) << "another scan has other noise";
}

TEST(Scan, CountsGiveTheLineIntegralsBack) {
  ScanSpec spec;
  spec.columns = 128;
  spec.angles = 20;
  spec.slices = 1;
  spec.photons = 50000;
  spec.centre = 60.25;
  const Scan scan(spec);
  std::vector<std::uint16_t> raw(128 * 20);
  std::vector<float> truth(raw.size()), flat(128), dark(128);
  scan.raw_slice(0, 0, 0, raw);
  scan.line_integrals(0, 0, truth);
  scan.mean_flat(0, 20, flat);
  scan.mean_dark(0, 20, dark);
  double error = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t c = i % 128;
    error = std::max(error, std::abs(-std::log((raw[i] - dark[c]) / (flat[c] - dark[c])) - double(truth[i])));
  }
  EXPECT_LT(error, 0.08);  // 5 deviations of 1/sqrt(50000 * 0.15 * 0.8)
  EXPECT_NEAR(*std::max_element(truth.begin(), truth.end()), -std::log(0.15), 0.15);
}

TEST(ClusterStream, PointsLieAroundTheCentresOfTheirTime) {
  for (ClusterKind kind : {ClusterKind::fixed, ClusterKind::drifting, ClusterKind::changing}) {
    ClusterSpec spec;
    spec.kind = kind;
    spec.deviation = 0.01;
    const ClusterStream stream(spec);
    std::vector<float> points(500 * 3);
    for (double time : {0.0, 17.0, 41.0}) {
      stream.batch(7, time, points);
      const std::vector<double> centres = stream.centres(time);
      std::vector<int> seen(spec.clusters);
      for (int p = 0; p < 500; ++p) {
        int nearest = -1;
        for (int c = 0; c < spec.clusters; ++c) {
          double sum = 0;
          for (int j = 0; j < 3; ++j) sum += std::pow(points[p * 3 + j] - centres[c * 3 + j], 2);
          if (sum < 0.01) nearest = c;
        }
        ASSERT_GE(nearest, 0);
        ++seen[nearest];
      }
      for (int c = 0; c < spec.clusters; ++c) EXPECT_EQ(seen[c] > 0, stream.is_there(c, time)) << c;
    }
  }
}

TEST(ClusterStream, BatchesAreReproducibleAndDiffer) {
  ClusterSpec spec;
  spec.kind = ClusterKind::uniform;
  std::vector<float> a(300), b(300), c(300);
  ClusterStream(spec).batch(1, 0, a);
  ClusterStream(spec).batch(1, 5, b);
  ClusterStream(spec).batch(2, 0, c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  for (float v : a) EXPECT_LE(std::abs(v), 10.0f);
}

}  // namespace
}  // namespace miniapps::generators
