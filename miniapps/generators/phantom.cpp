#include "miniapps/generators/phantom.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace miniapps::generators {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double degrees(double d) {
  return d * pi / 180.0;
}

// What of an ellipse a ray at one angle needs.
struct Shadow {
  double middle;        // s of the ellipse's centre
  double half_squared;  // half width of the shadow, squared
  double scale;         // 2 a b value / half width squared
};

Shadow shadow_of(const Ellipse& e, double radius, double theta) {
  const double c = std::cos(theta - e.phi), s = std::sin(theta - e.phi);
  const double a = e.a * radius, b = e.b * radius;
  const double half_squared = a * a * c * c + b * b * s * s;
  return {(e.x * std::cos(theta) + e.y * std::sin(theta)) * radius, half_squared,
          2.0 * e.value * a * b / half_squared};
}

// Adds to row[k] the ray at s = first + k * step.
void add_shadow(const Shadow& shadow, double first, double step, std::span<double> row) {
  const double half = std::sqrt(shadow.half_squared), size = static_cast<double>(row.size());
  const double low = std::ceil((shadow.middle - half - first) / step);
  const double high = std::floor((shadow.middle + half - first) / step) + 1.0;
  const int begin = static_cast<int>(std::clamp(low, 0.0, size)),
            end = static_cast<int>(std::clamp(high, 0.0, size));
  for (int k = begin; k < end; ++k) {
    const double s = first + k * step - shadow.middle;
    row[k] += shadow.scale * std::sqrt(std::max(0.0, shadow.half_squared - s * s));
  }
}

}  // namespace

Phantom shepp_logan() {
  return {
      {1.0, .69, .92, .81, 0, 0, 0},
      {-.8, .6624, .874, .78, 0, -.0184, 0},
      {-.2, .11, .31, .42, .22, 0, degrees(-18)},
      {-.2, .16, .41, .48, -.22, 0, degrees(18)},
      {.1, .21, .25, .41, 0, .35, 0},
      {.1, .046, .046, .25, 0, .1, 0},
      {.1, .046, .046, .25, 0, -.1, 0},
      {.1, .046, .023, .2, -.08, -.605, 0},
      {.1, .023, .023, .2, 0, -.606, 0},
      {.1, .023, .046, .2, .06, -.605, 0},
  };
}

Phantom dynamic_phantom(double time) {
  Phantom phantom = shepp_logan();
  const double swing = std::sin(2 * pi * time), phase = time - std::floor(time);
  phantom[2].phi += degrees(6) * swing;
  phantom[3].phi -= degrees(6) * swing;
  phantom[4].y += .06 * swing;
  for (std::size_t i = 7; i < phantom.size(); ++i) phantom[i].x += .12 * swing;
  if (phase > 0) phantom.push_back({.3, .09 * phase, .09 * phase, .3 * phase, 0, -.38, 0});
  return phantom;
}

Phantom uniform_disc(double value, double radius) {
  return {{value, radius, radius, 1.0, 0, 0, 0}};
}

Section section_at(const Phantom& phantom, double z) {
  Section section;
  for (const Ellipsoid& e : phantom) {
    const double h = 1.0 - (z / e.c) * (z / e.c);
    if (h <= 0) continue;
    const double shrink = std::sqrt(h);
    section.push_back({e.value, e.a * shrink, e.b * shrink, e.x, e.y, e.phi});
  }
  return section;
}

void projection(const Section& section, double radius, double theta, double centre, std::span<float> out,
                int samples) {
  std::vector<double> rays(out.size() * samples, 0.0);
  const double step = 1.0 / samples;
  for (const Ellipse& e : section)
    add_shadow(shadow_of(e, radius, theta), -centre - 0.5 + 0.5 * step, step, rays);
  for (std::size_t d = 0; d < out.size(); ++d) {
    double sum = 0;
    for (int k = 0; k < samples; ++k) sum += rays[d * samples + k];
    out[d] = static_cast<float>(sum * step);
  }
}

void sinogram(const Section& section, double radius, std::span<const double> theta, double centre,
              int columns, std::span<float> out, int samples) {
  assert(out.size() == theta.size() * static_cast<std::size_t>(columns));
  for (std::size_t a = 0; a < theta.size(); ++a)
    projection(section, radius, theta[a], centre, out.subspan(a * columns, columns), samples);
}

void rasterize(const Section& section, double radius, int size, int samples, std::span<float> out) {
  assert(out.size() == static_cast<std::size_t>(size) * size);
  std::vector<double> row(size);
  const double step = 1.0 / samples, weight = step * step;
  for (int r = 0; r < size; ++r) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int k = 0; k < size * samples * samples; ++k) {
      const int col = k / (samples * samples), sub = k % (samples * samples);
      const double x = (col + (sub % samples + .5) * step - size / 2.0) / radius;
      const double y = (size / 2.0 - r - (sub / samples + .5) * step) / radius;
      for (const Ellipse& e : section) {
        const double c = std::cos(e.phi), s = std::sin(e.phi), dx = x - e.x, dy = y - e.y;
        const double u = (dx * c + dy * s) / e.a, v = (dy * c - dx * s) / e.b;
        if (u * u + v * v <= 1.0) row[col] += e.value * weight;
      }
    }
    std::transform(row.begin(), row.end(), out.begin() + std::ptrdiff_t(r) * size,
                   [](double v) { return static_cast<float>(v); });
  }
}

std::vector<double> even_angles(int count, double arc) {
  std::vector<double> theta(count);
  for (int i = 0; i < count; ++i) theta[i] = arc * i / count;
  return theta;
}

}  // namespace miniapps::generators
