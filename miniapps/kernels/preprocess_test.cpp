#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "miniapps/generators/scan.hpp"
#include "miniapps/kernels/testing.hpp"

namespace miniapps::kernels::testing {
namespace {

TEST(NormalizeMinusLog, IsTheFormulaForBothTypesOnEverySet) {
  const int slices = 2, angles = 5, columns = 37;
  std::mt19937 random(1);
  std::vector<std::uint16_t> counts(slices * angles * columns);
  for (auto& v : counts) v = static_cast<std::uint16_t>(std::uniform_int_distribution<int>(0, 65535)(random));
  std::vector<float> raw(counts.begin(), counts.end()), flat(slices * columns), dark(slices * columns);
  for (float& v : flat) v = std::uniform_real_distribution<float>(20000, 60000)(random);
  for (float& v : dark) v = std::uniform_real_distribution<float>(0, 300)(random);
  for_each_isa([&](const std::string&) {
    std::vector<float> a(raw.size()), b(raw.size());
    ASSERT_EQ(pk_normalize_minus_log_u16(counts.data(), flat.data(), dark.data(), slices, angles, columns,
                                         1e-6f, INFINITY, a.data(), nullptr),
              PK_OK);
    ASSERT_EQ(pk_normalize_minus_log_f32(raw.data(), flat.data(), dark.data(), slices, angles, columns, 1e-6f,
                                         INFINITY, b.data(), nullptr),
              PK_OK);
    EXPECT_EQ(a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t p = i / (angles * columns) * columns + i % columns;
      const double t = std::max((double(counts[i]) - dark[p]) / (double(flat[p]) - dark[p]), 1e-6);
      ASSERT_NEAR(a[i], -std::log(t), 2e-5) << i;
    }
  });
}

TEST(NormalizeMinusLog, BoundsStrangeValuesAndBridgesDeadPixels) {
  for_each_isa([](const std::string&) {
    std::vector<float> raw(19, 50.0f), flat(19, 100.0f), dark(19, 0.0f);
    raw[1] = NAN, raw[2] = -7, raw[3] = INFINITY, raw[4] = 0;
    flat[7] = 0, flat[8] = NAN, flat[0] = -3, flat[18] = 0;
    raw[6] = 100, raw[9] = 25;
    ASSERT_EQ(pk_normalize_minus_log_f32(raw.data(), flat.data(), dark.data(), 1, 1, 19, 1e-3f, 2.0f,
                                         raw.data(), nullptr),
              PK_OK);
    const float opaque = -std::log(1e-3f);
    EXPECT_NEAR(raw[1], opaque, 1e-5);
    EXPECT_NEAR(raw[2], opaque, 1e-5);
    EXPECT_NEAR(raw[3], -std::log(2.0f), 1e-5);
    EXPECT_NEAR(raw[4], opaque, 1e-5);
    EXPECT_NEAR(raw[0], opaque, 1e-5) << "no live column to the left: the next one to the right";
    EXPECT_NEAR(raw[7], std::log(4.0f) / 3, 1e-5);
    EXPECT_NEAR(raw[8], std::log(4.0f) * 2 / 3, 1e-5);
    EXPECT_NEAR(raw[18], std::log(2.0f), 1e-5);
  });
  // Noise of the darks makes a dead pixel's flat differ from its dark by a little.
  std::vector<float> noisy(8, 50.0f), answer(8, 100.0f);
  answer[4] = 0.7f;
  noisy[4] = 0.1f;
  ASSERT_EQ(pk_normalize_minus_log_f32(noisy.data(), answer.data(), nullptr, 1, 1, 8, 1e-6f, INFINITY,
                                       noisy.data(), nullptr),
            PK_OK);
  EXPECT_NEAR(noisy[4], std::log(2.0f), 1e-5);
  std::vector<float> raw(4, 1.0f), flat(4, 0.0f);
  ASSERT_EQ(
      pk_normalize_minus_log_f32(raw.data(), flat.data(), nullptr, 1, 1, 4, 1e-3f, 2.0f, raw.data(), nullptr),
      PK_OK);
  EXPECT_EQ(raw, std::vector<float>(4, 0.0f)) << "a row of dead pixels";
  pk_error error{};
  EXPECT_EQ(pk_normalize_minus_log_f32(raw.data(), nullptr, nullptr, 1, 1, 4, 0, 2.0f, raw.data(), &error),
            PK_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("floor"), std::string::npos);
}

TEST(MeanFrames, AveragesOverTheFramesAndLeavesOutNotNumbers) {
  const std::vector<float> frames = {1, 2, 3, NAN, 5, 8};
  std::vector<float> mean(3);
  ASSERT_EQ(pk_mean_frames_f32(frames.data(), 2, 3, mean.data(), nullptr), PK_OK);
  EXPECT_EQ(mean, (std::vector<float>{1, 3.5, 5.5}));
}

TEST(CircMask, LeavesTheCircleOnly) {
  std::vector<float> image(9 * 12, 1.0f);
  ASSERT_EQ(pk_circ_mask(image.data(), 1, 9, 12, 0.8, -2.0f, nullptr), PK_OK);
  for (int i = 0; i < 9 * 12; ++i) {
    const double r = std::hypot(i % 12 + .5 - 6, i / 12 + .5 - 4.5);
    EXPECT_EQ(image[i], r <= 0.8 * 4.5 ? 1.0f : -2.0f) << i;
  }
}

TEST(RemoveZingers, TakesThemOutAndNothingElse) {
  generators::ScanSpec spec;
  spec.columns = 128;
  spec.angles = 90;
  spec.slices = 1;
  const generators::Scan clean(spec);
  spec.zingers = 0.003;
  const generators::Scan dirty(spec);
  std::vector<std::uint16_t> wanted(90 * 128), raw(90 * 128);
  clean.raw_slice(0, 0, 0, wanted);
  dirty.raw_slice(0, 0, 0, raw);
  int hit = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) hit += raw[i] != wanted[i];
  ASSERT_GT(hit, 10);
  std::vector<float> as_float(raw.begin(), raw.end());
  std::int64_t replaced = 0, replaced_float = 0;
  ASSERT_EQ(pk_remove_zingers_u16(raw.data(), 1, 90, 128, 20000, &replaced, nullptr), PK_OK);
  EXPECT_EQ(replaced, hit);
  for (std::size_t i = 0; i < raw.size(); ++i) EXPECT_LT(std::abs(int(raw[i]) - int(wanted[i])), 16000) << i;
  as_float[5000] = NAN;
  ASSERT_EQ(pk_remove_zingers_f32(as_float.data(), 1, 90, 128, 20000, &replaced_float, nullptr), PK_OK);
  EXPECT_EQ(replaced_float, hit + 1);
  EXPECT_TRUE(std::isfinite(as_float[5000]));
}

// The method trades fine structure for rings: it is for detectors whose stripes are worse than that.
TEST(RemoveRings, BringsThePictureBack) {
  constexpr int n = 320;
  Truth truth = make_truth(generators::shepp_logan(), 360, n, 159.5, 0.9);
  const std::vector<float> clean = truth.sino;
  for (int c : {81, 140, 167, 168, 240})
    for (int a = 0; a < 360; ++a) truth.sino[a * n + c] += c % 2 == 0 ? 8.0f : -8.0f;
  const std::vector<float> dirty = truth.sino;
  ASSERT_EQ(pk_remove_rings(truth.sino.data(), 1, 360, n, 5, nullptr), PK_OK);
  Gridrec gridrec(describe(360, n, truth.theta));
  const auto best = gridrec.run(clean, 1), with = gridrec.run(dirty, 1), without = gridrec.run(truth.sino, 1);
  const double before = compare(with.data(), best.data(), n, 0.9).rmse;
  const double after = compare(without.data(), best.data(), n, 0.9).rmse;
  EXPECT_LT(after, 0.5 * before) << before;
  EXPECT_EQ(pk_remove_rings(truth.sino.data(), 1, 360, n, 10, nullptr), PK_INVALID_ARGUMENT);
}

// Two slices of 320 columns as a detector with few counts gives them.
struct Measured {
  std::vector<float> sino;
  std::vector<double> theta;
};
Measured measure(double centre, double photons, int angles) {
  generators::ScanSpec spec;
  spec.columns = 320;
  spec.angles = angles;
  spec.slices = 2;
  spec.centre = centre;
  spec.radius = 0.8;
  spec.photons = photons;
  const generators::Scan scan(spec);
  const std::size_t size = std::size_t(angles) * 320;
  std::vector<std::uint16_t> raw(2 * size);
  std::vector<float> flat(2 * 320), dark(2 * 320);
  for (int s = 0; s < 2; ++s) {
    scan.raw_slice(s, 0, 0, std::span(raw).subspan(s * size, size));
    scan.mean_flat(s, 10, std::span(flat).subspan(s * 320, 320));
    scan.mean_dark(s, 10, std::span(dark).subspan(s * 320, 320));
  }
  Measured measured{std::vector<float>(2 * size), scan.theta()};
  EXPECT_EQ(pk_normalize_minus_log_u16(raw.data(), flat.data(), dark.data(), 2, angles, 320, 1e-6f, INFINITY,
                                       measured.sino.data(), nullptr),
            PK_OK);
  return measured;
}

TEST(FindCentre, IsRightForPhantomsAnywhere) {
  for (double centre : {127.5, 120.3, 140.85, 100.0}) {
    const Truth truth = make_truth(generators::shepp_logan(), 180, 256, centre, 0.6);
    double found = 0;
    ASSERT_EQ(pk_find_centre(truth.sino.data(), truth.theta.data(), 1, 180, 256, NAN, 0, &found, nullptr),
              PK_OK);
    EXPECT_NEAR(found, centre, 0.03);
  }
}

TEST(FindCentre, StandsNoiseAndFullTurns) {
  generators::ScanSpec spec;
  spec.columns = 320;
  spec.angles = 400;
  spec.slices = 3;
  spec.arc = 2 * pi;
  spec.centre = 151.4;
  spec.radius = 0.8;
  spec.photons = 500;
  const generators::Scan scan(spec);
  std::vector<std::uint16_t> raw(3 * 400 * 320);
  std::vector<float> flat(3 * 320), dark(3 * 320), sino(raw.size());
  for (int s = 0; s < 3; ++s) {
    scan.raw_slice(s, 0, 0, std::span(raw).subspan(s * 400 * 320, 400 * 320));
    scan.mean_flat(s, 10, std::span(flat).subspan(s * 320, 320));
    scan.mean_dark(s, 10, std::span(dark).subspan(s * 320, 320));
  }
  ASSERT_EQ(pk_normalize_minus_log_u16(raw.data(), flat.data(), dark.data(), 3, 400, 320, 1e-6f, INFINITY,
                                       sino.data(), nullptr),
            PK_OK);
  double found = 0;
  ASSERT_EQ(pk_find_centre(sino.data(), scan.theta().data(), 3, 400, 320, NAN, 0, &found, nullptr), PK_OK);
  EXPECT_NEAR(found, 151.4, 0.1);
}

// Where counts are few, the sinogram's transform says only roughly where the axis is, the picture better.
TEST(RefineCentre, IsSharpWhereCountsAreFew) {
  for (double centre : {151.4, 158.3}) {
    const Measured measured = measure(centre, 300, 200);
    double found = 0;
    for (double guess : {centre - 0.9, centre + 3.7}) {
      ASSERT_EQ(pk_refine_centre(measured.sino.data(), measured.theta.data(), 2, 200, 320, guess, 0, &found,
                                 nullptr),
                PK_OK);
      EXPECT_NEAR(found, centre, 0.12) << guess;
    }
    ASSERT_EQ(
        pk_find_centre(measured.sino.data(), measured.theta.data(), 2, 200, 320, NAN, 0, &found, nullptr),
        PK_OK);
    EXPECT_NEAR(found, centre, 0.12);
  }
}

TEST(RefineCentre, JoinsTheBinsOfWideDetectors) {
  const Truth truth = make_truth(generators::shepp_logan(), 120, 900, 431.3, 0.9);
  double found = 0;
  ASSERT_EQ(pk_refine_centre(truth.sino.data(), truth.theta.data(), 1, 120, 900, 432, 0, &found, nullptr),
            PK_OK);
  EXPECT_NEAR(found, 431.3, 0.06);
}

TEST(RefineCentre, SaysWhenThereIsNone) {
  const Truth truth = make_truth(generators::shepp_logan(), 40, 64, 31.5);
  std::vector<float> sino(40 * 64, 0.0f);
  double found = -7;
  const auto refine = [&](double guess, int columns) {
    return pk_refine_centre(sino.data(), truth.theta.data(), 1, 40, columns, guess, 0, &found, nullptr);
  };
  EXPECT_EQ(refine(31, 64), PK_BAD_DATA) << "constant";
  EXPECT_EQ(refine(7, 15), PK_BAD_DATA) << "narrow";
  EXPECT_EQ(refine(NAN, 64), PK_INVALID_ARGUMENT);
  sino = truth.sino;
  EXPECT_EQ(refine(10, 64), PK_BAD_DATA) << "far away";
  EXPECT_EQ(found, -7);
}

// Not a number, infinite and empty values, odd shapes: an answer inside the range or a reason, never a crash.
TEST(Preprocess, TakesAnyShapeAndAnyValue) {
  std::mt19937 random(21);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const float strange[] = {NAN, INFINITY, -INFINITY, 1e-42f, -5.0f, 3e38f};
  for (int round = 0; round < 80; ++round) {
    const int slices = pick(1, 3), angles = pick(1, 40), columns = pick(2, 70);
    std::vector<float> raw(std::size_t(slices) * angles * columns), flat(slices * columns, 2.0f), dark(flat);
    for (float& v : raw) v = std::uniform_real_distribution<float>(0, 2)(random);
    for (float& v : dark) v = 0.1f;
    for (int i = 0; i < pick(0, 30); ++i) raw[pick(0, int(raw.size()) - 1)] = strange[pick(0, 5)];
    for (int i = 0; i < pick(0, 5); ++i) flat[pick(0, int(flat.size()) - 1)] = strange[pick(0, 5)];
    for (int i = 0; i < pick(0, 5); ++i) dark[pick(0, int(dark.size()) - 1)] = strange[pick(0, 5)];
    ASSERT_EQ(pk_remove_zingers_f32(raw.data(), slices, angles, columns, 3.0f, nullptr, nullptr), PK_OK);
    ASSERT_EQ(pk_normalize_minus_log_f32(raw.data(), flat.data(), dark.data(), slices, angles, columns, 1e-6f,
                                         10.0f, raw.data(), nullptr),
              PK_OK);
    ASSERT_EQ(pk_remove_rings(raw.data(), slices, angles, columns, 2 * pick(1, 20) + 1, nullptr), PK_OK);
    for (float v : raw) ASSERT_TRUE(std::isfinite(v)) << "round " << round;
    for (int i = 0; i < pick(0, 9); ++i) raw[pick(0, int(raw.size()) - 1)] = strange[pick(0, 5)];
    std::vector<double> theta = generators::even_angles(angles, pick(0, 1) == 0 ? pi : 2 * pi);
    const double guess = pick(-3, columns + 3), radius = pick(1, 9);
    double centre = guess;
    const auto status =
        pk_find_centre(raw.data(), theta.data(), slices, angles, columns, guess, radius, &centre, nullptr);
    ASSERT_TRUE(status == PK_OK || status == PK_BAD_DATA) << "round " << round;
    ASSERT_LE(std::abs(centre - guess), radius) << "round " << round;
    ASSERT_EQ(pk_remove_zingers_f32(nullptr, 0, angles, columns, 3.0f, nullptr, nullptr), PK_OK);
  }
}

TEST(FindCentre, SaysWhenThereIsNone) {
  std::vector<double> theta = generators::even_angles(40, pi);
  std::vector<float> flat(40 * 64, 0.0f);
  double found = 0;
  EXPECT_EQ(pk_find_centre(flat.data(), theta.data(), 1, 40, 64, NAN, 0, &found, nullptr), PK_BAD_DATA);
  const Truth truth = make_truth(generators::shepp_logan(), 40, 64, 31.5);
  theta = generators::even_angles(40, pi / 2);
  EXPECT_EQ(pk_find_centre(truth.sino.data(), theta.data(), 1, 40, 64, NAN, 0, &found, nullptr), PK_BAD_DATA);
}

// The real scan is not ours to copy: it lies beside the repository where the project is worked on.
TEST(FindCentre, FindsTheTooths) {
  std::ifstream file(PILOT_SOURCE_DIR "/../shared/vectors/tomo/tooth_minuslog_f32.bin", std::ios::binary);
  if (!file) GTEST_SKIP() << "the tooth scan is not here (../shared/vectors/tomo)";
  std::vector<float> by_angle(181 * 2 * 640), sino(by_angle.size());
  file.read(reinterpret_cast<char*>(by_angle.data()), by_angle.size() * sizeof(float));
  ASSERT_EQ(std::size_t(file.gcount()), by_angle.size() * sizeof(float));
  for (int a = 0; a < 181; ++a)
    for (int s = 0; s < 2; ++s) std::copy_n(&by_angle[(a * 2 + s) * 640], 640, &sino[(s * 181 + a) * 640]);
  std::vector<double> theta(181);
  for (int a = 0; a < 181; ++a) theta[a] = a * 0.9945 * pi / 180;
  double found = 0;
  ASSERT_EQ(pk_find_centre(sino.data(), theta.data(), 2, 181, 640, NAN, 0, &found, nullptr), PK_OK);
  EXPECT_GT(found, 294.5);  // three methods: 295.0, 294.53 to 296.34
  EXPECT_LT(found, 296.6);
  RecordProperty("centre", std::to_string(found));
}

}  // namespace
}  // namespace miniapps::kernels::testing
