#include "miniapps/kernels/lane_fft.hpp"

#include <cmath>
#include <numbers>

namespace miniapps::kernels {
namespace {

bool is_smooth(int n) {
  for (int p : {2, 3, 5})
    while (n % p == 0) n /= p;
  return n == 1;
}

// The radices, large ones first so that the later stages, which touch memory with long strides, are few.
std::vector<int> radices_of(int n) {
  std::vector<int> radices;
  for (int r : {5, 3})
    for (; n % r == 0; n /= r) radices.push_back(r);
  int twos = 0;
  for (; n > 1; n /= 2) ++twos;
  for (; twos >= 5 || twos == 3; twos -= 3) radices.push_back(8);
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  if (twos == 1) radices.push_back(2);
  return radices;
}

}  // namespace

int smooth_size(int n) {
  int size = n < 2 ? 2 : n + n % 2;
  while (!is_smooth(size)) size += 2;
  return size;
}

FftPlan::FftPlan(int n) : size(n) {
  int length = n, stride = 1;
  for (int radix : radices_of(n)) {
    const int count = length / radix;
    stages.push_back({radix, count, stride, static_cast<int>(twiddles.size())});
    for (int p = 0; p < count; ++p)
      for (int k = 1; k < radix; ++k) {
        const double angle = -2.0 * std::numbers::pi * (static_cast<long long>(p) * k % length) / length;
        twiddles.push_back(static_cast<float>(std::cos(angle)));
        twiddles.push_back(static_cast<float>(std::sin(angle)));
      }
    length = count;
    stride *= radix;
  }
}

RealFftPlan::RealFftPlan(int n) : size(n), half(n / 2) {
  for (int k = 0; k <= n / 4; ++k) {
    const double angle = -2.0 * std::numbers::pi * k / n;
    turn.push_back(static_cast<float>(std::cos(angle)));
    turn.push_back(static_cast<float>(std::sin(angle)));
  }
}

}  // namespace miniapps::kernels
