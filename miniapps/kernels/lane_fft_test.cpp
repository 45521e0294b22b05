#include "miniapps/kernels/lane_fft.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "miniapps/kernels/aligned_buffer.hpp"
#include "miniapps/kernels/testing.hpp"

namespace miniapps::kernels::testing {
namespace {

using Signal = std::vector<std::complex<double>>;

Signal slow_transform(const Signal& x, int sign) {
  const std::size_t n = x.size();
  Signal y(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      y[k] += x[j] * std::polar(1.0, sign * 2 * pi * double(j * k % n) / double(n));
  return y;
}

TEST(LaneFft, IsTheTransformForAllRadicesAndSizes) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for_each_isa([&](const std::string&) {
    const int lanes = transform_lanes();
    for (int n :
         {1, 2, 3, 4, 5, 6, 8, 9, 10, 15, 16, 25, 27, 32, 48, 60, 64, 100, 120, 128, 144, 180, 256, 360}) {
      const FftPlan plan(n);
      AlignedBuffer<float> x(n * 2 * lanes), y(n * 2 * lanes);
      for (bool inverse : {false, true}) {
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = normal(random);
        std::vector<Signal> wanted(lanes, Signal(n));
        for (int l = 0; l < lanes; ++l) {
          for (int k = 0; k < n; ++k)
            wanted[l][k] = {x.data()[k * 2 * lanes + l], x.data()[k * 2 * lanes + lanes + l]};
          wanted[l] = slow_transform(wanted[l], inverse ? 1 : -1);
        }
        const float* const z = run_transform(plan, x.data(), y.data(), inverse);
        for (int k = 0; k < n; ++k)
          for (int l = 0; l < lanes; ++l) {
            ASSERT_NEAR(z[k * 2 * lanes + l], wanted[l][k].real(), 1e-5 * std::sqrt(n) + 1e-6)
                << n << ' ' << k;
            ASSERT_NEAR(z[k * 2 * lanes + lanes + l], wanted[l][k].imag(), 1e-5 * std::sqrt(n) + 1e-6)
                << n << ' ' << k;
          }
      }
    }
  });
}

TEST(LaneFft, RealTransformsGoThereAndBack) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for_each_isa([&](const std::string&) {
    const int lanes = transform_lanes();
    for (int n : {2, 4, 6, 10, 18, 64, 90, 144, 250}) {
      const RealFftPlan plan(n);
      AlignedBuffer<float> x((n / 2 + 1) * 2 * lanes), y((n / 2 + 1) * 2 * lanes);
      std::vector<float> before(n * lanes);
      for (float& v : before) v = normal(random);
      std::copy(before.begin(), before.end(), x.data());
      Signal signal(n);
      for (int k = 0; k < n; ++k) signal[k] = before[k * lanes + 1];
      const Signal wanted = slow_transform(signal, -1);
      float* const z = run_real_forward(plan, x.data(), y.data());
      for (int k = 0; k <= n / 2; ++k) {
        ASSERT_NEAR(z[k * 2 * lanes + 1], wanted[k].real(), 1e-4) << n << ' ' << k;
        ASSERT_NEAR(z[k * 2 * lanes + lanes + 1], wanted[k].imag(), 1e-4) << n << ' ' << k;
      }
      const float* const back = run_real_inverse(plan, z, z == x.data() ? y.data() : x.data());
      for (int i = 0; i < n * lanes; ++i) ASSERT_NEAR(back[i] / n, before[i], 1e-5) << n;
    }
  });
}

TEST(LaneFft, SmoothSizesAreTheNextOnes) {
  EXPECT_EQ(smooth_size(1), 2);
  EXPECT_EQ(smooth_size(7), 8);
  EXPECT_EQ(smooth_size(641), 648);
  EXPECT_EQ(smooth_size(1024), 1024);
  EXPECT_EQ(smooth_size(4099), 4320);
}

}  // namespace
}  // namespace miniapps::kernels::testing
