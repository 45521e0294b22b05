#include "miniapps/processors/slice_picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace miniapps::processors {
namespace {

constexpr std::uint32_t n = 64;
std::uint8_t at(const std::vector<std::uint8_t>& pixels, std::uint32_t row, std::uint32_t column) {
  return pixels[row * n + column];
}

// A disc of 1 with a denser spot, in air.
std::vector<float> disc() {
  std::vector<float> image(n * n, 0);
  for (std::uint32_t r = 0; r < n; ++r)
    for (std::uint32_t c = 0; c < n; ++c) {
      const double d = std::hypot(r - 31.5, c - 31.5);
      image[r * n + c] = d < 5 ? 2.0f : d < 20 ? 1.0f : 0.0f;
    }
  return image;
}

TEST(SlicePicture, UsesTheWholeRangeOfGreys) {
  const auto pixels = grey_slice(disc(), n, n);
  EXPECT_EQ(at(pixels, 32, 32), 255);
  EXPECT_EQ(at(pixels, 32, 45), 128);
  EXPECT_EQ(at(pixels, 32, 60), 0);
}

TEST(SlicePicture, FewExtremePixelsAndTheCornersDoNotSpoilTheContrast) {
  auto image = disc();
  image[32 * n + 50] = 1e6f;
  image[20 * n + 20] = -1e6f;
  for (std::uint32_t i = 0; i < 8; ++i) image[i * n + i] = 1e9f;  // outside the circle
  const auto pixels = grey_slice(image, n, n);
  EXPECT_EQ(at(pixels, 32, 45), 128);
  EXPECT_EQ(at(pixels, 32, 50), 255);
  EXPECT_EQ(at(pixels, 0, 0), 0);
}

TEST(SlicePicture, ValuesThatAreNotFiniteAndConstantImages) {
  auto image = disc();
  image[32 * n + 45] = std::numeric_limits<float>::quiet_NaN();
  image[32 * n + 46] = std::numeric_limits<float>::infinity();
  const auto pixels = grey_slice(image, n, n);
  EXPECT_EQ(at(pixels, 32, 45), 0);
  EXPECT_EQ(at(pixels, 32, 46), 0);
  EXPECT_EQ(at(pixels, 32, 44), 128);
  EXPECT_EQ(at(grey_slice(std::vector<float>(n * n, 3.0f), n, n), 32, 32), 128);
  EXPECT_EQ(at(grey_slice(std::vector<float>(n * n, NAN), n, n), 32, 32), 0);
  EXPECT_EQ(grey_slice(std::vector<float>(1, 3.0f), 1, 1).size(), 1u);
}

}  // namespace
}  // namespace miniapps::processors
