#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "miniapps/kernels/testing.hpp"

namespace miniapps::kernels::testing {
namespace {

class Iterative {
 public:
  explicit Iterative(const pk_iterative_desc& desc)
      : size_(desc.image_size > 0 ? desc.image_size : desc.columns) {
    pk_error error{};
    EXPECT_EQ(pk_iterative_plan_create(&desc, &plan, &error), PK_OK) << error.message;
    EXPECT_EQ(pk_iterative_scratch_create(plan, &scratch, &error), PK_OK) << error.message;
  }
  Iterative(const Iterative&) = delete;
  Iterative& operator=(const Iterative&) = delete;
  ~Iterative() {
    pk_iterative_scratch_destroy(scratch);
    pk_iterative_plan_destroy(plan);
  }
  std::vector<float> run(const std::vector<float>& sino, int iterations, double* objective = nullptr) {
    std::vector<float> image(std::size_t(size_) * size_);
    EXPECT_EQ(pk_iterative_run(plan, scratch, sino.data(), nullptr, 1, iterations, 0, image.data(), nullptr,
                               objective, nullptr),
              PK_OK);
    return image;
  }
  pk_iterative_plan* plan = nullptr;
  pk_iterative_scratch* scratch = nullptr;

 private:
  int size_;
};

pk_iterative_desc describe_iterative(int angles, int columns, const std::vector<double>& theta,
                                     int method = PK_MLEM) {
  pk_iterative_desc desc;
  pk_iterative_desc_init(&desc, angles, columns, theta.data());
  desc.method = method;
  return desc;
}

// <Ax, y> = <x, A'y>
TEST(Projector, IsMatched) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (int columns : {16, 97, 256})
    for (double centre : {columns / 2.0 - 0.5, columns * 0.31, columns * 1.4}) {
      for_each_isa([&](const std::string&) {
        std::vector<double> theta = generators::even_angles(37, 2 * pi);
        theta.insert(theta.end(), {pi / 4, -pi / 4, 100.0});
        Iterative it(describe_iterative(40, columns, theta));
        std::vector<float> x(columns * columns), y(40 * columns), ax(y.size()), aty(x.size());
        for (float& v : x) v = uniform(random);
        for (float& v : y) v = uniform(random);
        ASSERT_EQ(pk_project(it.plan, it.scratch, x.data(), &centre, 1, ax.data(), nullptr), PK_OK);
        ASSERT_EQ(pk_back_project(it.plan, it.scratch, y.data(), &centre, 1, aty.data(), nullptr), PK_OK);
        double left = 0, right = 0;
        for (std::size_t i = 0; i < y.size(); ++i) left += double(ax[i]) * y[i];
        for (std::size_t i = 0; i < x.size(); ++i) right += double(x[i]) * aty[i];
        EXPECT_NEAR(left / right, 1.0, 1e-5) << columns << ' ' << centre;
      });
    }
}

TEST(Projector, GivesTheLineIntegralsOfThePhantom) {
  const auto phantom = fixture("tomo/sl128_phantom_f32.bin", 128 * 128);
  const auto theirs = fixture("tomo/sl128_project_f32.bin", 180 * 128),
             exact = fixture("tomo/sl128_sino_f32.bin", 180 * 128);
  Iterative it(describe_iterative(180, 128, generators::even_angles(180, pi)));
  std::vector<float> mine(exact.size());
  ASSERT_EQ(pk_project(it.plan, it.scratch, phantom.data(), nullptr, 1, mine.data(), nullptr), PK_OK);
  double to_exact = 0, to_theirs = 0, norm = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    to_exact += std::pow(mine[i] - exact[i], 2);
    to_theirs += std::pow(mine[i] - theirs[i], 2);
    norm += std::pow(exact[i], 2);
  }
  EXPECT_LT(std::sqrt(to_exact / norm), 0.02);
  EXPECT_LT(std::sqrt(to_theirs / norm), 0.02);
}

TEST(Mlem, IsAsGoodAsTomoPys) {
  const auto phantom = fixture("tomo/sl128_phantom_f32.bin", 128 * 128),
             sino = fixture("tomo/sl128_sino_f32.bin", 180 * 128);
  Iterative it(describe_iterative(180, 128, generators::even_angles(180, pi)));
  for (int iterations : {1, 10, 50}) {
    const auto theirs = fixture("tomo/sl128_mlem_it" + std::to_string(iterations) + "_f32.bin", 128 * 128);
    const auto mine = it.run(sino, iterations);
    const double my_error = compare(mine.data(), phantom.data(), 128).rmse;
    const double their_error = compare(theirs.data(), phantom.data(), 128).rmse;
    EXPECT_LE(my_error, their_error * 1.01) << iterations;
    EXPECT_LT(compare(mine.data(), theirs.data(), 128).rmse, 1e-4) << iterations;
  }
}

TEST(Mlem, NeverRaisesTheDivergence) {
  Truth truth = make_truth(generators::shepp_logan(), 60, 64, 31.5);
  std::mt19937 random(4);
  for (float& v : truth.sino) v = std::poisson_distribution<int>(v * 20)(random) / 20.0f;
  Iterative it(describe_iterative(60, 64, truth.theta));
  std::vector<double> divergence(40);
  it.run(truth.sino, 40, divergence.data());
  for (int i = 1; i < 40; ++i) EXPECT_LE(divergence[i], divergence[i - 1] * (1 + 1e-6)) << i;
  EXPECT_LT(divergence[39], 0.1 * divergence[0]);
}

TEST(Osem, IsThereInFewerIterations) {
  const Truth truth = make_truth(generators::shepp_logan(), 120, 96, 47.5);
  pk_iterative_desc desc = describe_iterative(120, 96, truth.theta, PK_OSEM);
  desc.subsets = 10;
  const auto fast = Iterative(desc).run(truth.sino, 4);
  desc.subsets = 1;
  const auto slow = Iterative(desc).run(truth.sino, 4),
             mlem = Iterative(describe_iterative(120, 96, truth.theta)).run(truth.sino, 4);
  EXPECT_EQ(slow, mlem);
  EXPECT_LT(compare(fast.data(), truth.image.data(), 96).rmse,
            0.4 * compare(slow.data(), truth.image.data(), 96).rmse);
}

TEST(Sirt, Converges) {
  const Truth truth = make_truth(generators::shepp_logan(), 120, 96, 47.5);
  std::vector<double> residual(100);
  const auto image =
      Iterative(describe_iterative(120, 96, truth.theta, PK_SIRT)).run(truth.sino, 100, residual.data());
  for (int i = 1; i < 100; ++i) EXPECT_LE(residual[i], residual[i - 1] * (1 + 1e-6));
  EXPECT_GT(decibel(compare(image.data(), truth.image.data(), 96).rmse), 23.0);
}

TEST(Mlem, ReadsADiscAsOneLikeGridrecOnTheSameAxis) {
  const Truth truth = make_truth(generators::uniform_disc(1, 0.7), 150, 101, 46.25);
  const double centre = 46.25;
  Iterative it(describe_iterative(150, 101, truth.theta));
  std::vector<float> image(101 * 101);
  ASSERT_EQ(pk_iterative_run(it.plan, it.scratch, truth.sino.data(), &centre, 1, 30, 0, image.data(), nullptr,
                             nullptr, nullptr),
            PK_OK);
  const std::vector<float> gridrec = Gridrec(describe(150, 101, truth.theta)).run(truth.sino, 1, &centre);
  double sum = 0, moment_x = 0, moment_y = 0, mass = 0, grid_x = 0, grid_y = 0, grid_mass = 0;
  for (int i = 0; i < 101 * 101; ++i) {
    const double x = i % 101 - 50.0, y = i / 101 - 50.0;
    if (std::hypot(x, y) < 20) sum += image[i] / (pi * 400);
    if (std::hypot(x, y) > 45) continue;
    mass += image[i], moment_x += x * image[i], moment_y += y * image[i];
    grid_mass += gridrec[i], grid_x += x * gridrec[i], grid_y += y * gridrec[i];
  }
  EXPECT_NEAR(sum, 1.0, 0.01);
  EXPECT_NEAR(moment_x / mass, grid_x / grid_mass, 0.02);
  EXPECT_NEAR(moment_y / mass, grid_y / grid_mass, 0.02);
}

TEST(Mlem, FollowsTheCentreOfEachSliceAndScalesWithTheData) {
  const double centres[] = {40.0, 47.5, 52.25};
  const float scales[] = {1, 5, 0.01f};
  std::vector<float> sino;
  Truth truth;
  for (int s = 0; s < 3; ++s) {
    truth = make_truth(generators::shepp_logan(), 90, 96, centres[s], 0.7);
    for (float v : truth.sino) sino.push_back(v * scales[s]);
  }
  Iterative it(describe_iterative(90, 96, truth.theta));
  std::vector<float> image(3 * 96 * 96);
  ASSERT_EQ(pk_iterative_run(it.plan, it.scratch, sino.data(), centres, 3, 30, 0, image.data(), nullptr,
                             nullptr, nullptr),
            PK_OK);
  for (int s = 0; s < 3; ++s) {
    for (int i = 0; i < 96 * 96; ++i) image[s * 96 * 96 + i] /= scales[s];
    EXPECT_GT(decibel(compare(image.data() + s * 96 * 96, truth.image.data(), 96, 0.75).rmse), 25.0) << s;
  }
}

TEST(Mlem, GoesOnFromAnImageAndStopsByItself) {
  const Truth truth = make_truth(generators::shepp_logan(), 60, 64, 31.5);
  pk_iterative_desc desc = describe_iterative(60, 64, truth.theta);
  Iterative it(desc);
  const auto twelve = it.run(truth.sino, 12);
  auto resumed = it.run(truth.sino, 5);
  ASSERT_EQ(pk_iterative_run(it.plan, it.scratch, truth.sino.data(), nullptr, 1, 7, 1, resumed.data(),
                             nullptr, nullptr, nullptr),
            PK_OK);
  EXPECT_EQ(twelve, resumed);
  desc.tolerance = 0.05;
  Iterative stopping(desc);
  int32_t done = 0;
  ASSERT_EQ(pk_iterative_run(stopping.plan, stopping.scratch, truth.sino.data(), nullptr, 1, 1000, 0,
                             resumed.data(), &done, nullptr, nullptr),
            PK_OK);
  EXPECT_GT(done, 3);
  EXPECT_LT(done, 300);
}

TEST(Iterative, SameBitsForAnyBatchAndFusedSets) {
  std::mt19937 random(6);
  std::vector<float> sino(3 * 30 * 50);
  for (float& v : sino) v = std::uniform_real_distribution<float>(0, 2)(random);
  const auto theta = generators::even_angles(30, pi);
  std::vector<float> fused;
  for_each_isa([&](const std::string& isa) {
    Iterative it(describe_iterative(30, 50, theta));
    std::vector<float> all(3 * 2500), one(2500);
    ASSERT_EQ(pk_iterative_run(it.plan, it.scratch, sino.data(), nullptr, 3, 5, 0, all.data(), nullptr,
                               nullptr, nullptr),
              PK_OK);
    ASSERT_EQ(pk_iterative_run(it.plan, it.scratch, sino.data() + 3000, nullptr, 1, 5, 0, one.data(), nullptr,
                               nullptr, nullptr),
              PK_OK);
    EXPECT_EQ(std::memcmp(one.data(), all.data() + 5000, 2500 * sizeof(float)), 0);
    if (isa == "avx2") fused = all;
    if (isa == "avx512" && !fused.empty()) {
      // The vectors' lengths differ, and with them where positions are rounded.
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_NEAR(all[i], fused[i], 1e-3 * (1 + fused[i]));
    }
  });
}

// For the thread sanitizer: one plan, a scratch per thread.
TEST(Iterative, ThreadsShareAPlanAndGiveTheBitsOfOne) {
  const auto theta = generators::even_angles(24, pi);
  std::vector<float> sino(2 * 24 * 40);
  std::mt19937 random(8);
  for (float& v : sino) v = std::uniform_real_distribution<float>(0, 2)(random);
  Iterative it(describe_iterative(24, 40, theta, PK_OSEM));
  const auto run = [&](pk_iterative_scratch* scratch, int slice, float* image) {
    EXPECT_EQ(pk_iterative_run(it.plan, scratch, sino.data() + slice * 24 * 40, nullptr, 1, 4, 0, image,
                               nullptr, nullptr, nullptr),
              PK_OK);
  };
  std::vector<float> alone(2 * 1600), together(2 * 1600);
  for (int s = 0; s < 2; ++s) run(it.scratch, s, alone.data() + s * 1600);
  std::vector<std::thread> threads;
  for (int s = 0; s < 2; ++s)
    threads.emplace_back([&, s] {
      pk_iterative_scratch* scratch = nullptr;
      EXPECT_EQ(pk_iterative_scratch_create(it.plan, &scratch, nullptr), PK_OK);
      run(scratch, s, together.data() + s * 1600);
      pk_iterative_scratch_destroy(scratch);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)), 0);
}

TEST(Iterative, TakesAnyShapeAndAnyValue) {
  std::mt19937 random(12);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const float strange[] = {NAN, INFINITY, -INFINITY, 1e-42f, -5.0f, 0.0f};
  for (int round = 0; round < 60; ++round) {
    const int columns = pick(2, 90), angles = pick(1, 20), slices = pick(1, 3);
    std::vector<double> theta(angles), centres(slices);
    for (double& t : theta) t = std::uniform_real_distribution<double>(-7, 7)(random);
    for (double& c : centres) c = std::uniform_real_distribution<double>(-columns, 2 * columns)(random);
    pk_iterative_desc desc = describe_iterative(angles, columns, theta, pick(0, 2));
    desc.subsets = pick(1, angles);
    desc.image_size = pick(0, 1) * pick(1, 120);
    const int size = desc.image_size > 0 ? desc.image_size : columns;
    std::vector<float> sino(std::size_t(slices) * angles * columns, 0.5f),
        image(std::size_t(slices) * size * size);
    for (int i = 0; i < 20; ++i) sino[pick(0, int(sino.size()) - 1)] = strange[pick(0, 5)];
    if (round == 0) std::fill(sino.begin(), sino.end(), 0.0f);
    Iterative it(desc);
    ASSERT_EQ(pk_iterative_run(it.plan, it.scratch, sino.data(), centres.data(), slices, pick(1, 6), 0,
                               image.data(), nullptr, nullptr, nullptr),
              PK_OK);
    for (float v : image) ASSERT_TRUE(std::isfinite(v)) << "round " << round;
  }
}

TEST(Iterative, SaysWhatIsWrong) {
  const std::vector<double> theta = generators::even_angles(4, pi);
  const auto message = [&](auto change) {
    pk_iterative_desc desc = describe_iterative(4, 16, theta, PK_OSEM);
    change(desc);
    pk_iterative_plan* plan = nullptr;
    pk_error error{};
    EXPECT_EQ(pk_iterative_plan_create(&desc, &plan, &error), PK_INVALID_ARGUMENT);
    return std::string(error.message);
  };
  EXPECT_NE(message([](auto& d) { d.subsets = 5; }).find("subsets"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.method = 3; }).find("method"), std::string::npos);
  EXPECT_NE(message([](auto& d) { d.tolerance = -1; }).find("tolerance"), std::string::npos);
  Iterative it(describe_iterative(4, 16, theta));
  std::vector<float> sino(64), image(256);
  pk_error error{};
  EXPECT_EQ(pk_iterative_run(it.plan, it.scratch, sino.data(), nullptr, 1, 0, 0, image.data(), nullptr,
                             nullptr, &error),
            PK_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("iterations"), std::string::npos);
}

}  // namespace
}  // namespace miniapps::kernels::testing
