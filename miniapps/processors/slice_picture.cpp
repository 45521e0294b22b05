#include "miniapps/processors/slice_picture.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace miniapps::processors {

namespace {

constexpr double black_fraction = 0.005;
constexpr double white_fraction = 0.998;

class Circle {
 public:
  Circle(std::uint32_t rows, std::uint32_t columns)
      : middle_row_((rows - 1) / 2.0),
        middle_column_((columns - 1) / 2.0),
        radius_(std::min(rows, columns) / 2.0) {}
  bool contains(std::uint32_t row, std::uint32_t column) const {
    const double y = row - middle_row_, x = column - middle_column_;
    return x * x + y * y <= radius_ * radius_;
  }

 private:
  double middle_row_, middle_column_, radius_;
};

float percentile(std::vector<float>& values, double fraction) {
  const auto rank = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

}  // namespace

std::vector<std::uint8_t> grey_slice(std::span<const float> image, std::uint32_t rows,
                                     std::uint32_t columns) {
  assert(rows > 0 && columns > 0 && image.size() == std::size_t{rows} * columns);
  const Circle circle(rows, columns);
  std::vector<std::uint8_t> pixels(image.size(), 0);
  std::vector<float> inside;
  inside.reserve(image.size());
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint32_t c = 0; c < columns; ++c)
      if (const float value = image[std::size_t{r} * columns + c];
          circle.contains(r, c) && std::isfinite(value))
        inside.push_back(value);
  if (inside.empty()) return pixels;
  const float black = percentile(inside, black_fraction), white = percentile(inside, white_fraction);
  const float scale = white > black ? 255.0f / (white - black) : 0.0f;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      const auto i = std::size_t{r} * columns + c;
      if (!circle.contains(r, c) || !std::isfinite(image[i])) continue;
      const float grey = scale > 0 ? (std::clamp(image[i], black, white) - black) * scale : 128.0f;
      pixels[i] = static_cast<std::uint8_t>(std::lround(grey));
    }
  }
  return pixels;
}

}  // namespace miniapps::processors
