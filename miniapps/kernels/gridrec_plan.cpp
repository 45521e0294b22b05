#include "miniapps/kernels/gridrec_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace miniapps::kernels {
namespace {

constexpr double pi = std::numbers::pi;

// Modified Bessel function of the first kind, order 0, by its series (converges for the shapes in use).
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 200 && term > 1e-17 * sum; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

double kaiser_bessel(double distance, int width, double shape) {
  const double r = 2 * distance / width;
  return std::abs(r) >= 1 ? 0.0 : bessel_i0(shape * std::sqrt(1 - r * r));
}

SpreadKernel make_kernel(int width, double oversampling, double error) {
  SpreadKernel kernel;
  kernel.width = width;
  // Beatty et al. 2005, eq. 5; below an oversampling of 1.25 the formula has no good answer.
  const double sigma = std::max(oversampling, 1.25), a = width / sigma * (sigma - 0.5);
  kernel.shape = pi * std::sqrt(std::max(a * a - 0.8, 1.0));
  // Linear interpolation errs by h^2/8 times the second derivative, about 8 for these kernels.
  kernel.intervals = std::clamp(static_cast<int>(std::ceil(1.0 / std::sqrt(0.2 * error))), 32, 2048);
  kernel.table.assign((kernel.intervals + 2) * 8, 0.0f);
  const double peak = bessel_i0(kernel.shape);
  for (int k = 0; k <= kernel.intervals + 1; ++k)
    for (int i = 0; i < width; ++i) {
      const double offset = std::min(1.0, double(k) / kernel.intervals);
      kernel.table[k * 8 + i] =
          static_cast<float>(kaiser_bessel(offset - width / 2.0 + i, width, kernel.shape) / peak);
    }
  return kernel;
}

// Taps needed for an error, from the alias bound of the kernel; measured errors are below it.  The loops are
// compiled for 4, 5 and 8 taps.
int kernel_width(double oversampling, double error) {
  const double sigma = std::clamp(oversampling, 1.25, 2.0);
  const double per_tap = std::exp(pi * std::sqrt(1 - 1 / sigma));  // Fessler, Sutton 2003; Potts, Steidl 2003
  const double taps = std::log(4.0 / error) / std::log(per_tap);
  return taps <= 4 ? 4 : taps <= 5 ? 5 : 8;
}

// |f| as the transform of the ramp sampled in space: h(0) = 1/4, h(odd n) = -1/(pi n)^2 (Kak & Slaney,
// eq. 3.61).
std::vector<double> ramp(int length) {
  std::vector<double> cosine(length), response(length / 2 + 1);
  for (int i = 0; i < length; ++i) cosine[i] = std::cos(2 * pi * i / length);
  for (int k = 0; k <= length / 2; ++k) {
    const int step = static_cast<int>(2LL * k % length);
    double sum = 0;
    for (int n = 1, at = k; n < length / 2; n += 2) {
      sum += cosine[at] / (double(n) * n);
      at += step;
      if (at >= length) at -= length;
    }
    if (length / 2 % 2 == 1) sum += 0.5 * (k % 2 == 0 ? 1 : -1) / (0.25 * length * length);
    response[k] = 0.25 - 2 * sum / (pi * pi);
  }
  return response;
}

std::vector<double> pixel_factors(const SpreadKernel& kernel, int first, int count, int size, int grid) {
  std::vector<double> factors(count);
  // At the grid point, not at the pixel's centre: half a pixel is in the samples' phases.
  for (int i = 0; i < count; ++i) factors[i] = 1 / kernel.transform(double(first + i - size / 2) / grid);
  return factors;
}

std::vector<float> to_float(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// Taps must not reach around the grid more than once.
constexpr int least_size = 16;

int transform_size(const pk_gridrec_desc& d) {
  return smooth_size(std::max(least_size, static_cast<int>(std::ceil(d.padding * d.columns - 1e-9))));
}

int grid_size(const pk_gridrec_desc& d) {
  const double factor = d.oversampling > 0 ? d.oversampling : d.padding < 1.25 ? 1.0 : 1.125;
  // The folds at the grid's edges take each cell once only where the grid is wider than both margins.
  constexpr int smallest = 16;
  return smooth_size(std::max(smallest, static_cast<int>(std::ceil(factor * d.columns - 1e-9))));
}

}  // namespace

double SpreadKernel::transform(double xi) const {
  const double a = pi * width * xi, b = shape * shape - a * a, root = std::sqrt(std::abs(b));
  const double shaped = root < 1e-6 ? 1.0 : b > 0 ? std::sinh(root) / root : std::sin(root) / root;
  return width * shaped / bessel_i0(shape);
}

double filter_window(int filter, double f, double p0, double p1) {
  const double x = std::abs(f);
  switch (filter) {
    case PK_FILTER_SHEPP:
      return x == 0 ? 1 : std::sin(pi * x) / (pi * x);
    case PK_FILTER_COSINE:
      return std::cos(pi * x);
    case PK_FILTER_HANN:
      return 0.5 + 0.5 * std::cos(2 * pi * x / p0);
    case PK_FILTER_HAMMING:
      return 0.54 + 0.46 * std::cos(2 * pi * x / p0);
    case PK_FILTER_PARZEN:
      return x <= p0 ? std::pow(1 - x / p0, 3) : 0;
    case PK_FILTER_BUTTERWORTH:
      return 1 / (1 + std::pow(x / p0, 2 * p1));
    default:
      return 1;
  }
}

std::vector<double> angle_weights(const double* theta, int count) {
  std::vector<double> folded(count);
  for (int i = 0; i < count; ++i) folded[i] = theta[i] - pi * std::floor(theta[i] / pi);
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return folded[a] < folded[b]; });
  std::vector<double> gaps(count);
  for (int i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    gaps[i] = folded[order[last ? 0 : i + 1]] + (last ? pi : 0) - folded[order[i]];
  }
  if (count > 2) {
    std::vector<double> sorted;
    std::copy_if(gaps.begin(), gaps.end(), std::back_inserter(sorted), [](double g) { return g > 1e-6; });
    std::sort(sorted.begin(), sorted.end());
    const double usual = sorted.empty() ? pi : sorted[sorted.size() / 2];
    for (double& g : gaps)
      if (g > 6 * usual) g = usual;
  }
  std::vector<double> weights(count);
  for (int i = 0; i < count; ++i) weights[order[i]] = 0.5 * (gaps[i] + gaps[(i + count - 1) % count]);
  return weights;
}

std::string check_gridrec(const pk_gridrec_desc& d) {
  const auto bad = [](const char* what, double value, const char* range) {
    std::string text = std::to_string(value);
    return std::string(what) + " is " + text + "; it can be " + range;
  };
  if (d.angles < 1 || d.angles > 1000000) return bad("angles", d.angles, "1 to 1000000");
  if (d.columns < 2 || d.columns > 32768) return bad("columns", d.columns, "2 to 32768");
  if (d.theta == nullptr) return "theta is NULL; it must point to one angle in radians for each projection";
  for (int i = 0; i < d.angles; ++i)
    if (!(std::abs(d.theta[i]) < 1e6))
      return bad("theta has a value that", d.theta[i], "any angle in radians");
  if (d.filter < PK_FILTER_NONE || d.filter > PK_FILTER_BUTTERWORTH) return bad("filter", d.filter, "0 to 7");
  if (!(d.filter_p0 > 0 && d.filter_p0 <= 1)) return bad("filter_p0", d.filter_p0, "above 0, up to 1");
  if (!(d.filter_p1 > 0 && d.filter_p1 <= 100)) return bad("filter_p1", d.filter_p1, "above 0, up to 100");
  if (!(d.padding >= 1 && d.padding <= 8)) return bad("padding", d.padding, "1 to 8");
  if (d.oversampling != 0 && !(d.oversampling >= 1 && d.oversampling <= 8))
    return bad("oversampling", d.oversampling, "0 or 1 to 8");
  if (!(d.kernel_error >= 1e-6 && d.kernel_error <= 0.1))
    return bad("kernel_error", d.kernel_error, "1e-6 to 0.1");
  if (d.edge != PK_EDGE_ZERO && d.edge != PK_EDGE_REPEAT) return bad("edge", d.edge, "0 or 1");
  if (d.image_size < 0 || d.image_size > grid_size(d))
    return bad("image_size", d.image_size, "0 to the grid's size");
  const int size = d.image_size > 0 ? d.image_size : d.columns;
  if (d.row0 < 0 || d.rows < 0 || d.row0 >= size || d.rows > size - d.row0)
    return "row0 and rows don't lie in the image of " + std::to_string(size) + " rows";
  if (d.col0 < 0 || d.cols < 0 || d.col0 >= size || d.cols > size - d.col0)
    return "col0 and cols don't lie in the image of " + std::to_string(size) + " columns";
  return {};
}

GridrecPlan::GridrecPlan(const pk_gridrec_desc& d)
    : desc(d),
      size(d.image_size > 0 ? d.image_size : d.columns),
      rows(d.rows > 0 ? d.rows : size - d.row0),
      cols(d.cols > 0 ? d.cols : size - d.col0),
      transform(transform_size(d)),
      grid(grid_size(d)),
      direct(transform == grid),
      filtering(transform),
      radial(grid),
      across(grid) {
  desc.theta = nullptr;
  const double oversampling = double(grid) / std::max(d.columns, size);
  kernel = make_kernel(kernel_width(oversampling, d.kernel_error), oversampling, d.kernel_error);
  margin = (kernel.width + 1) / 2;

  const double between = size % 2 == 0 ? 0.5 : 0.0;  // pixel centres of even images lie between grid points
  const std::vector<double> weights = angle_weights(d.theta, d.angles);
  for (int a = 0; a < d.angles; ++a) {
    // A pixel at column x and row t (downwards) lies on the ray s = x cos - t sin.
    const double c = std::cos(d.theta[a]), s = std::sin(d.theta[a]);
    const bool up = s >= 0;
    angles.push_back({static_cast<float>(up ? -c : c), static_cast<float>(std::abs(s)), up ? -1.0f : 1.0f,
                      weights[a], between * (c - s)});
  }

  const std::vector<double> slope = ramp(transform);
  response.resize(transform / 2 + 1);
  for (int k = 0; k <= transform / 2; ++k) {
    const double f = double(k) / transform;
    const double base = d.filter == PK_FILTER_NONE ? 0.5 : slope[k];
    const double value = base * filter_window(d.filter, f, d.filter_p0, d.filter_p1) / transform;
    response[k] = static_cast<float>(direct ? value : value / grid);
  }
  // A shift by a part of a bin has no real answer at the highest frequency.
  if (!direct) response.back() = 0;
  row_factor = to_float(pixel_factors(kernel, d.row0, rows, size, grid));
  col_factor = to_float(pixel_factors(kernel, d.col0, cols, size, grid));
  col_factor.resize(cols + 3);  // read in fours
}

}  // namespace miniapps::kernels
