// The random numbers of k-means: the same for the same seed everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace miniapps::kernels {

// SplitMix64 (Steele, Lea, Flood 2014).
class KmeansRandom {
 public:
  explicit KmeansRandom(std::uint64_t seed) : state_(seed) {}
  double uniform() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace miniapps::kernels
