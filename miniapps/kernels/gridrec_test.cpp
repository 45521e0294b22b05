#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "miniapps/kernels/testing.hpp"

namespace miniapps::kernels::testing {
namespace {

constexpr int edge = 128, pixels = edge * edge;

// TomoPy's origin is at pixel (63, 64): that of an image of 129 pixels, cut.
pk_gridrec_desc as_tomopy(const std::vector<double>& theta, int filter) {
  pk_gridrec_desc desc = describe(180, edge, theta);
  desc.filter = filter;
  desc.image_size = edge + 1;
  desc.row0 = 1;
  desc.rows = desc.cols = edge;
  return desc;
}

// The best fit takes away TomoPy's amplitude (about 12 % high) and offset (it drops the mean).
TEST(Gridrec, HasTomoPysPictureForEachFilter) {
  const std::vector<float> sino = fixture("tomo/sl128_sino2_f32.bin", 2 * 180 * edge);
  const std::vector<double> theta = generators::even_angles(180, pi);
  const char* names[] = {"none", "ramlak", "shepp", "cosine", "hann", "hamming", "parzen", "butterworth"};
  // Without a ramp and without padding the picture is mostly aliases, which differ; that filter has its own
  // test.
  for (int filter = PK_FILTER_RAMLAK; filter < 8; ++filter) {
    SCOPED_TRACE(names[filter]);
    pk_gridrec_desc desc = as_tomopy(theta, filter);
    desc.padding = 1;
    desc.oversampling = 1.125;
    const std::vector<float> mine = Gridrec(desc).run(sino, 2);
    const auto theirs =
        fixture(std::string("tomo/sl128_gridrec_") + names[filter] + "_c63p5_f32.bin", 2 * pixels);
    for (int s = 0; s < 2; ++s) {
      const Comparison c = compare(mine.data() + s * pixels, theirs.data() + s * pixels, edge, 0.8);
      // Without padding TomoPy's grid wraps its own aliases into the picture; 0.2 tells the filters apart.
      EXPECT_LT(c.fit_rmse / c.deviation, 0.22);
    }
  }
}

TEST(Gridrec, HasTomoPysPaddedPicture) {
  const std::vector<float> sino = fixture("tomo/sl128_sino2_f32.bin", 2 * 180 * edge);
  const std::vector<double> theta = generators::even_angles(180, pi);
  for (const char* name : {"shepp", "ramlak"}) {
    SCOPED_TRACE(name);
    const auto desc = as_tomopy(theta, name[0] == 's' ? PK_FILTER_SHEPP : PK_FILTER_RAMLAK);
    const std::vector<float> mine = Gridrec(desc).run(sino, 2);
    const auto theirs = fixture(std::string("tomo/sl128_gridrec_") + name + "_pad256_f32.bin", 2 * pixels);
    for (int s = 0; s < 2; ++s) {
      const Comparison c = compare(mine.data() + s * pixels, theirs.data() + s * pixels, edge, 0.95);
      EXPECT_LT(c.fit_rmse / c.deviation, 0.06);
    }
  }
}

TEST(Gridrec, PaddedPictureOfThePhantomIsBetterThanTomoPys) {
  const Truth truth = make_truth(generators::shepp_logan(), 360, 512, 255.5);
  const std::vector<float> image = Gridrec(describe(360, 512, truth.theta)).run(truth.sino, 1);
  const Comparison c = compare(image.data(), truth.image.data(), 512);
  EXPECT_GT(decibel(c.fit_rmse), 36.8);  // TomoPy, padded: 36.4
  EXPECT_GT(decibel(c.rmse), 36.5);      // TomoPy, padded: 25.9
}

TEST(Gridrec, UnpaddedPictureIsUsable) {
  const Truth truth = make_truth(generators::shepp_logan(), 360, 512, 255.5);
  pk_gridrec_desc desc = describe(360, 512, truth.theta);
  desc.padding = 1;
  const std::vector<float> image = Gridrec(desc).run(truth.sino, 1);
  const Comparison c = compare(image.data(), truth.image.data(), 512);
  EXPECT_GT(decibel(c.fit_rmse), 31.0);  // TomoPy, not padded: 23.6
  EXPECT_GT(decibel(c.rmse), 29.0);      // TomoPy, not padded: 12
}

TEST(Gridrec, ADiscOfOneReadsOne) {
  for (int columns : {128, 255, 320}) {
    for (int filter : {PK_FILTER_RAMLAK, PK_FILTER_SHEPP, PK_FILTER_COSINE, PK_FILTER_BUTTERWORTH}) {
      const Truth truth =
          make_truth(generators::uniform_disc(1, 0.8), 2 * columns, columns, (columns - 1) / 2.0);
      pk_gridrec_desc desc = describe(2 * columns, columns, truth.theta);
      desc.filter = filter;
      const std::vector<float> image = Gridrec(desc).run(truth.sino, 1);
      double sum = 0, outside = 0;
      int n = 0, m = 0;
      for (int i = 0; i < columns * columns; ++i) {
        const double r =
            std::hypot(i % columns + 0.5 - columns / 2.0, i / columns + 0.5 - columns / 2.0) / columns * 2;
        if (r < 0.6) sum += image[i], ++n;
        if (r > 0.9 && r < 1.0) outside += image[i], ++m;
      }
      EXPECT_NEAR(sum / n, 1.0, 0.002) << columns << " filter " << filter;
      EXPECT_NEAR(outside / m, 0.0, 0.004) << columns << " filter " << filter;
    }
  }
}

TEST(Gridrec, FollowsTheCentreOfEachSlice) {
  const double centres[] = {100.0, 110.3, 127.75};
  std::vector<float> sino;
  std::vector<float> wanted;
  std::vector<double> theta;
  for (double centre : centres) {
    const Truth truth = make_truth(generators::shepp_logan(), 240, 240, centre, 0.7);
    sino.insert(sino.end(), truth.sino.begin(), truth.sino.end());
    wanted = truth.image;
    theta = truth.theta;
  }
  const std::vector<float> image = Gridrec(describe(240, 240, theta)).run(sino, 3, centres);
  for (int s = 0; s < 3; ++s)
    EXPECT_GT(decibel(compare(image.data() + s * 240 * 240, wanted.data(), 240, 0.75).rmse), 31.0) << s;
}

TEST(Gridrec, TurnsWithTheAngles) {
  // Angles a quarter turn further: the picture turns by a quarter, clockwise as y points up and rows down.
  for (int n : {100, 101}) {
    const Truth truth = make_truth(generators::shepp_logan(), 200, n, (n - 1) / 2.0);
    std::vector<double> turned = truth.theta;
    for (double& t : turned) t += pi / 2;
    const std::vector<float> a = Gridrec(describe(200, n, truth.theta)).run(truth.sino, 1);
    const std::vector<float> b = Gridrec(describe(200, n, turned)).run(truth.sino, 1);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c)
        if (std::hypot(r - (n - 1) / 2.0, c - (n - 1) / 2.0) < 0.48 * n) {
          ASSERT_NEAR(a[r * n + c], b[(n - 1 - c) * n + r], n % 2 == 1 ? 1e-5 : 5e-3) << r << ' ' << c;
        }
  }
}

TEST(Gridrec, WithoutFilterIsAPlainBackProjection) {
  std::vector<float> sino(40 * 65);
  for (int i = 0; i < 40 * 65; ++i) sino[i] = std::exp(-0.02f * float((i % 65 - 32) * (i % 65 - 32)));
  const std::vector<double> theta = generators::even_angles(40, pi);
  pk_gridrec_desc desc = describe(40, 65, theta);
  desc.filter = PK_FILTER_NONE;
  const std::vector<float> image = Gridrec(desc).run(sino, 1);
  EXPECT_NEAR(image[32 * 65 + 32], pi / 2, 5e-3);  // half of 1, over half a turn
  double mean = 0;                                 // ten pixels from the axis, the mean over the rays
  for (double t : theta) mean += pi / 40 * 0.5 * std::exp(-0.02 * std::pow(10 * std::cos(t), 2));
  EXPECT_NEAR(image[32 * 65 + 42], mean, 5e-3);
}

TEST(Gridrec, TakesAFullTurnAndAnyOrderOfAngles) {
  const Truth half = make_truth(generators::shepp_logan(), 180, 128, 60.0, 0.8);
  Truth full = half;
  full.theta = generators::even_angles(360, 2 * pi);
  std::shuffle(full.theta.begin(), full.theta.end(), std::mt19937(3));
  full.sino.resize(360 * 128);
  generators::sinogram(generators::section_at(generators::shepp_logan(), 0), 0.8 * 64, full.theta, 60.0, 128,
                       full.sino);
  const double centre = 60.0;
  const std::vector<float> a = Gridrec(describe(180, 128, half.theta)).run(half.sino, 1, &centre);
  const std::vector<float> b = Gridrec(describe(360, 128, full.theta)).run(full.sino, 1, &centre);
  EXPECT_LT(compare(a.data(), b.data(), 128, 0.8).rmse, 0.01);
}

// Three quarters of a usual gap closer or wider: each projection counts for the gap that it fills.
TEST(Gridrec, WeighsUnevenlySpacedAngles) {
  Truth truth = make_truth(generators::shepp_logan(), 400, 160, 79.5, 0.9);
  for (int a = 0; a < 400; ++a) truth.theta[a] = pi * (a / 400.0 + 0.12 * std::sin(2 * pi * a / 400));
  generators::sinogram(generators::section_at(generators::shepp_logan(), 0), 0.9 * 80, truth.theta, 79.5, 160,
                       truth.sino);
  const std::vector<float> image = Gridrec(describe(400, 160, truth.theta)).run(truth.sino, 1);
  EXPECT_GT(decibel(compare(image.data(), truth.image.data(), 160).rmse), 31.5);
}

TEST(Gridrec, TakesPrimeWidths) {
  for (int n : {211, 331}) {
    const Truth truth = make_truth(generators::shepp_logan(), 300, n, (n - 1) / 2.0);
    const std::vector<float> image = Gridrec(describe(300, n, truth.theta)).run(truth.sino, 1);
    EXPECT_GT(decibel(compare(image.data(), truth.image.data(), n).rmse), 33.0) << n;
  }
}

// A wide detector gives the picture that a narrow one gives of the same object, in finer pixels.
TEST(Gridrec, TakesMoreThan4096Columns) {
  constexpr int n = 4201;  // prime
  const std::vector<double> theta = generators::even_angles(16, pi);
  std::vector<float> sino(16 * n);
  generators::sinogram(generators::section_at(generators::shepp_logan(), 0), 1900, theta, 2100, n, sino, 1);
  std::vector<float> narrow(16 * 323);
  generators::sinogram(generators::section_at(generators::shepp_logan(), 0), 1900 / 13.0, theta, 161, 323,
                       narrow, 13);
  pk_gridrec_desc desc = describe(16, n, theta), coarse = describe(16, 323, theta);
  desc.padding = coarse.padding = 1;
  desc.filter = coarse.filter = PK_FILTER_PARZEN;
  desc.filter_p0 = 0.5 / 13;  // the same object, as blurred
  desc.row0 = 2100 - 6 - 13 * 100;
  desc.rows = 13 * 201;
  desc.col0 = 2100 - 6 - 13 * 20;
  desc.cols = 13 * 41;
  coarse.row0 = 161 - 100;
  coarse.rows = 201;
  coarse.col0 = 161 - 20;
  coarse.cols = 41;
  const std::vector<float> wide = Gridrec(desc, 1).run(sino, 1), small = Gridrec(coarse, 1).run(narrow, 1);
  double error = 0, size = 0;
  for (int r = 0; r < 201; ++r)
    for (int c = 0; c < 41; ++c) {
      double mean = 0;
      for (int i = 0; i < 169; ++i) mean += wide[(r * 13 + i / 13) * desc.cols + c * 13 + i % 13] / 169.0;
      error += std::pow(mean - small[r * 41 + c], 2);
      size += std::pow(small[r * 41 + c], 2);
    }
  EXPECT_LT(std::sqrt(error / size), 0.05);
}

TEST(Gridrec, RegionOfInterestIsACutOfTheWhole) {
  const Truth truth = make_truth(generators::shepp_logan(), 90, 101, 50.0);
  pk_gridrec_desc desc = describe(90, 101, truth.theta);
  const std::vector<float> whole = Gridrec(desc).run(truth.sino, 1);
  desc.row0 = 17;
  desc.col0 = 33;
  desc.rows = 41;
  desc.cols = 19;
  const std::vector<float> part = Gridrec(desc).run(truth.sino, 1);
  ASSERT_EQ(part.size(), 41u * 19u);
  for (int r = 0; r < 41; ++r)
    for (int c = 0; c < 19; ++c) ASSERT_EQ(part[r * 19 + c], whole[(r + 17) * 101 + c + 33]);
}

TEST(Gridrec, IsLinear) {
  const Truth truth = make_truth(generators::shepp_logan(), 60, 96, 47.5);
  std::vector<float> other(truth.sino.size()), mix(truth.sino.size());
  std::mt19937 random(1);
  for (std::size_t i = 0; i < mix.size(); ++i) {
    other[i] = std::normal_distribution<float>()(random);
    mix[i] = 2 * truth.sino[i] - 3 * other[i];
  }
  Gridrec gridrec(describe(60, 96, truth.theta));
  const auto a = gridrec.run(truth.sino, 1), b = gridrec.run(other, 1), c = gridrec.run(mix, 1);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(c[i], 2 * a[i] - 3 * b[i], 2e-4);
}

TEST(Gridrec, ExtendsObjectsBeyondTheFieldOfView) {
  // A disc 1.3 times as wide as the detector: zero padding gives a bright ring, continued edges don't.
  const Truth truth = make_truth(generators::uniform_disc(1, 1.0), 256, 128, 63.5, 1.3);
  pk_gridrec_desc desc = describe(256, 128, truth.theta);
  const auto ring = [&] {
    const std::vector<float> image = Gridrec(desc).run(truth.sino, 1);
    double rim = 0, middle = 0;
    for (int c = 2; c < 8; ++c) rim += image[64 * 128 + c] / 6;
    for (int c = 60; c < 68; ++c) middle += image[64 * 128 + c] / 8;
    return rim / middle;
  };
  EXPECT_GT(ring(), 1.25);
  desc.edge = PK_EDGE_REPEAT;
  EXPECT_LT(ring(), 1.12);
}

// The promise that makes re-processing of a message harmless.
TEST(Gridrec, SameBitsForAnyBatchThreadAndVectorWidth) {
  const int slices = 13;
  std::vector<float> sino(std::size_t(slices) * 50 * 72);
  std::mt19937 random(5);
  for (float& v : sino) v = std::uniform_real_distribution<float>(0, 3)(random);
  std::vector<double> centres(slices);
  for (int s = 0; s < slices; ++s) centres[s] = 33 + 0.37 * s;
  const std::vector<double> theta = generators::even_angles(50, pi);
  for (double padding : {1.0, 2.0}) {
    pk_gridrec_desc desc = describe(50, 72, theta);
    desc.padding = padding;
    std::vector<float> fused;  // of AVX2 and AVX-512
    for_each_isa([&](const std::string& isa) {
      Gridrec gridrec(desc);
      const std::vector<float> whole = gridrec.run(sino, slices, centres.data());
      const std::size_t in = 50 * 72, out = 72 * 72;
      std::vector<float> pieces(whole.size());
      for (int first = 0, n = 1; first < slices; first += n, n = n % 7 + 1)
        ASSERT_EQ(pk_gridrec_run(gridrec.plan(), gridrec.scratch(), sino.data() + first * in,
                                 centres.data() + first, std::min(n, slices - first),
                                 pieces.data() + first * out, nullptr),
                  PK_OK);
      EXPECT_EQ(std::memcmp(pieces.data(), whole.data(), whole.size() * sizeof(float)), 0);
      std::vector<float> shared(whole.size());
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
          pk_gridrec_scratch* scratch = nullptr;
          ASSERT_EQ(pk_gridrec_scratch_create(gridrec.plan(), 1, &scratch, nullptr), PK_OK);
          for (int s = t; s < slices; s += 3)
            EXPECT_EQ(pk_gridrec_run(gridrec.plan(), scratch, sino.data() + s * in, centres.data() + s, 1,
                                     shared.data() + s * out, nullptr),
                      PK_OK);
          pk_gridrec_scratch_destroy(scratch);
        });
      for (std::thread& t : threads) t.join();
      EXPECT_EQ(std::memcmp(shared.data(), whole.data(), whole.size() * sizeof(float)), 0);
      if (isa == "avx2") fused = whole;
      if (isa == "avx512" && !fused.empty()) {
        EXPECT_EQ(std::memcmp(fused.data(), whole.data(), whole.size() * sizeof(float)), 0);
      }
    });
  }
}

TEST(Gridrec, EveryInstructionSetGivesThePicture) {
  const Truth truth = make_truth(generators::shepp_logan(), 180, 160, 79.5);
  std::vector<float> sino;
  for (int s = 0; s < 9; ++s) sino.insert(sino.end(), truth.sino.begin(), truth.sino.end());
  for_each_isa([&](const std::string&) {
    const std::vector<float> image = Gridrec(describe(180, 160, truth.theta)).run(sino, 9);
    for (int s = 0; s < 9; ++s)
      EXPECT_GT(decibel(compare(image.data() + s * 160 * 160, truth.image.data(), 160).rmse), 31.5);
  });
}

// Odd, prime, tiny and very wide detectors; every kernel width; values that are not numbers.  Under asan and
// ubsan this is the fuzz test of shapes.
TEST(Gridrec, TakesAnyShapeAndAnyValue) {
  std::mt19937 random(11);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const float strange[] = {NAN, INFINITY, -INFINITY, 1e-42f, -0.0f, 3e38f};
  for (int round = 0; round < 60; ++round) {
    const int columns = round == 0  ? 4099
                        : round < 7 ? 2 + round % 3
                                    : pick(2, 150),
              angles = round == 0 ? 3 : pick(1, 40);
    const int slices = pick(1, 11);
    std::vector<double> theta(angles), centres(slices);
    for (double& t : theta) t = std::uniform_real_distribution<double>(-7, 7)(random);
    for (double& c : centres) c = std::uniform_real_distribution<double>(-columns, 2 * columns)(random);
    pk_gridrec_desc desc = describe(angles, columns, theta);
    desc.filter = pick(0, 7);
    desc.padding = round == 0 ? 1.0 : pick(4, 12) / 4.0;
    desc.oversampling = round == 0 ? 1.0 : pick(0, 3) == 0 ? 0.0 : pick(8, 20) / 8.0;
    desc.kernel_error = std::pow(10.0, -pick(1, 6));
    desc.edge = pick(0, 1);
    if (pick(0, 2) == 0) desc.image_size = pick(1, columns);
    const int size = desc.image_size > 0 ? desc.image_size : columns;
    if (pick(0, 2) == 0) desc.row0 = pick(0, size - 1);
    if (pick(0, 2) == 0) desc.cols = pick(1, size);
    std::vector<float> sino(std::size_t(slices) * angles * columns, 0.5f);
    const bool zeros = pick(0, 3) == 0;
    for (int i = 0; i < 20; ++i) sino[pick(0, int(sino.size()) - 1)] = zeros ? NAN : strange[pick(0, 4)];
    const std::vector<float> image = Gridrec(desc, slices).run(sino, slices, centres.data());
    for (float v : image) ASSERT_TRUE(std::isfinite(v)) << "round " << round;
  }
}

TEST(Gridrec, SaysWhatIsWrong) {
  const std::vector<double> theta = generators::even_angles(4, pi);
  const auto message = [&](auto change) {
    pk_gridrec_desc desc = describe(4, 16, theta);
    change(desc);
    pk_gridrec_plan* plan = nullptr;
    pk_error error{};
    EXPECT_EQ(pk_gridrec_plan_create(&desc, &plan, &error), PK_INVALID_ARGUMENT);
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(error.code, PK_INVALID_ARGUMENT);
    return std::string(error.message);
  };
  EXPECT_NE(message([](auto& d) { d.columns = 1; }).find("columns"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.angles = 0; }).find("angles"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.theta = nullptr; }).find("theta"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.filter = 8; }).find("filter"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.padding = NAN; }).find("padding"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.image_size = 999; }).find("image_size"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.rows = 10, d.row0 = 10; }).find("row0"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.struct_size = 8; }).find("struct_size"), std::string::npos);
  std::vector<double> bad = theta;
  bad[2] = NAN;
  EXPECT_NE(message([&](auto& d) { d.theta = bad.data(); }).find("theta"), std::string::npos);

  Gridrec one(describe(4, 16, theta)), two(describe(4, 16, theta));
  std::vector<float> sino(64), out(256);
  pk_error error{};
  EXPECT_EQ(pk_gridrec_run(one.plan(), two.scratch(), sino.data(), nullptr, 1, out.data(), &error),
            PK_INVALID_ARGUMENT);
  const double centre = NAN;
  EXPECT_EQ(pk_gridrec_run(one.plan(), one.scratch(), sino.data(), &centre, 1, out.data(), &error),
            PK_INVALID_ARGUMENT);
  EXPECT_EQ(pk_gridrec_run(one.plan(), one.scratch(), nullptr, nullptr, 0, nullptr, &error), PK_OK);
}

}  // namespace
}  // namespace miniapps::kernels::testing
