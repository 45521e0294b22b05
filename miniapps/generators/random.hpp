// Random numbers that depend on what they are for and not on who draws them: a stream is named by a seed and
// up to four indices (say scan, slice, angle, kind), so any thread makes the same numbers for the same row.
#pragma once

#include <cmath>
#include <cstdint>

namespace miniapps::generators {

class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
                        std::uint64_t d = 0)
      : state_(mix(mix(mix(mix(mix(seed) + a) + b) + c) + d)) {}

  // SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15ull); }

  // 0 <= u < 1, 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Mean 0, deviation 1: Box-Muller, one of the pair used, so a draw always takes two numbers.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(6.283185307179586477 * uniform());
  }

  // Poisson with the given mean (0 to 1e9), exact; mean that is not positive gives 0.
  std::uint32_t poisson(double mean);

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace miniapps::generators
