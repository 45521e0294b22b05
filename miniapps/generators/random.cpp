#include "miniapps/generators/random.hpp"

namespace miniapps::generators {
namespace {

std::uint32_t poisson_by_inversion(RandomStream& random, double mean) {
  double p = std::exp(-mean), u = random.uniform();
  std::uint32_t k = 0;
  while (u > p && k < 1000) {
    u -= p;
    p *= mean / ++k;
  }
  return k;
}

// log(k!) by Stirling's series; k >= 10 in use.
double log_factorial(double k) {
  const double n = k + 1.0;
  return (n - .5) * std::log(n) - n + .91893853320467274178 + 1.0 / (12.0 * n) - 1.0 / (360.0 * n * n * n);
}

// PTRS of W. Hormann, "The transformed rejection method for generating Poisson random variables", 1993.
std::uint32_t poisson_by_rejection(RandomStream& random, double mean) {
  const double root = std::sqrt(mean), log_mean = std::log(mean);
  const double b = .931 + 2.53 * root, a = -.059 + .02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = .9277 - 3.6224 / (b - 2.0);
  for (;;) {
    const double u = random.uniform() - .5, v = 1.0 - random.uniform(), us = .5 - std::abs(u);
    const double k = std::floor((2.0 * a / us + b) * u + mean + .43);
    if (us >= .07 && v <= v_r) return static_cast<std::uint32_t>(k);
    if (k < 0 || (us < .013 && v > us)) continue;
    const double left = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
    if (left <= k * log_mean - mean - log_factorial(k)) return static_cast<std::uint32_t>(k);
  }
}

}  // namespace

std::uint32_t RandomStream::poisson(double mean) {
  if (!(mean > 0)) return 0;
  return mean < 10.0 ? poisson_by_inversion(*this, mean) : poisson_by_rejection(*this, mean);
}

}  // namespace miniapps::generators
