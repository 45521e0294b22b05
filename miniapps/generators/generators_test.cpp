#include <gtest/gtest.h>

#include <algorithm>
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

// Without noise and gains, so that counts are the beam's law and nothing else.
ScanSpec quiet_spec() {
  ScanSpec spec;
  spec.columns = 128;
  spec.angles = 41;
  spec.slices = 1;
  spec.phantom = PhantomKind::disc;
  spec.photons = 50000;
  spec.noise = false;
  spec.gain_spread = 0;
  return spec;
}
std::vector<std::uint16_t> counts_of(const ScanSpec& spec, double time = 0) {
  std::vector<std::uint16_t> raw(std::size_t(spec.angles) * spec.columns);
  Scan(spec).raw_slice(0, 0, time, raw);
  return raw;
}

TEST(Scan, TheAxisDrifts) {
  ScanSpec spec = quiet_spec();
  spec.axis_drift = 6;
  spec.centre = 60;
  std::vector<float> rows(41 * 128);
  Scan(spec).line_integrals(0, 0, rows);
  for (int a : {0, 20, 40}) {  // the disc lies on the axis: its shadow's middle is the axis
    double mass = 0, moment = 0;
    for (int c = 0; c < 128; ++c) mass += rows[a * 128 + c], moment += c * rows[a * 128 + c];
    EXPECT_NEAR(moment / mass, 60 + 6 * a / 40.0, 1e-3) << a;
  }
}

TEST(Scan, TheBeamDecays) {
  ScanSpec spec = quiet_spec();
  spec.beam_decay = 0.4;
  const auto raw = counts_of(spec);
  for (int a : {0, 20, 40}) EXPECT_NEAR(raw[a * 128], 100 + 50000 * (1 - 0.4 * a / 40.0), 1) << a;
}

TEST(Scan, DeadPixelsReadTheDarkLevelAndZingersSaturate) {
  ScanSpec spec = quiet_spec();
  spec.dead_pixels = 0.1;
  const auto raw = counts_of(spec);
  int dead = 0;
  for (int c = 0; c < 128; ++c) {
    int dark = 0;
    for (int a = 0; a < 41; ++a) dark += raw[a * 128 + c] == 100;
    EXPECT_TRUE(dark == 0 || dark == 41) << c;
    dead += dark == 41;
  }
  EXPECT_GE(dead, 4);
  EXPECT_LE(dead, 26);
  spec.dead_pixels = 0;
  spec.zingers = 0.01;
  const auto hit = counts_of(spec);
  EXPECT_NEAR(std::count(hit.begin(), hit.end(), 65535), 41 * 128 * 0.01, 4 * std::sqrt(52.5));
}

TEST(Scan, TheDynamicPhantomMovesWithTimeAndComesBack) {
  ScanSpec spec = quiet_spec();
  spec.phantom = PhantomKind::dynamic;
  const auto now = counts_of(spec, 0), later = counts_of(spec, 0.3), period = counts_of(spec, 1);
  EXPECT_NE(now, later);
  EXPECT_EQ(now, period);
}

TEST(Scan, AnotherSeedIsAnotherScan) {
  ScanSpec spec = quiet_spec();
  spec.noise = true;
  const auto one = counts_of(spec);
  EXPECT_EQ(one, counts_of(spec));
  spec.seed = 2;
  EXPECT_NE(one, counts_of(spec));
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

TEST(ClusterStream, ClustersDriftAndAppearAndVanish) {
  ClusterSpec spec;
  spec.kind = ClusterKind::drifting;
  const ClusterStream drifting(spec);
  EXPECT_NE(drifting.centres(0), drifting.centres(15));
  const auto start = drifting.centres(0), period = drifting.centres(60);
  for (std::size_t i = 0; i < start.size(); ++i) EXPECT_NEAR(start[i], period[i], 1e-9);
  spec.kind = ClusterKind::changing;
  const ClusterStream changing(spec);
  EXPECT_EQ(changing.centres(0), changing.centres(15));
  int appeared = 0, vanished = 0;
  for (int c = 0; c < spec.clusters; ++c)
    for (int t = 0; t < 60; ++t) {
      appeared += !changing.is_there(c, t) && changing.is_there(c, t + 1);
      vanished += changing.is_there(c, t) && !changing.is_there(c, t + 1);
    }
  EXPECT_EQ(appeared, spec.clusters - 1) << "each but the first once a period";
  EXPECT_EQ(vanished, appeared);
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
