// Plans of Fourier transforms that run on many signals at once, one signal per SIMD lane.
//
// A signal is an array of elements; an element is [re of all lanes][im of all lanes].  No shuffles are
// needed, so one simple mixed-radix Stockham transform (factors 2, 3, 4, 5, 8) runs at the speed of the
// arithmetic, and a lane's result does not depend on what the other lanes hold.  The transforms themselves,
// compiled for each instruction set, are in lane_fft-inl.h.
#pragma once

#include <vector>

namespace miniapps::kernels {

// Smallest even product of 2, 3 and 5 that is >= n.
int smooth_size(int n);

struct FftPlan {
  struct Stage {
    int radix;
    int count;     // butterflies per stride: the remaining length / radix
    int stride;    // product of the radices before
    int twiddles;  // offset in `twiddles`: [count][radix - 1][re, im]
  };
  int size = 0;
  std::vector<Stage> stages;
  std::vector<float> twiddles;

  // n: a product of 2, 3 and 5 (1 is allowed).
  explicit FftPlan(int n);
};

// Real signals of even length n by a complex transform of half the length.
struct RealFftPlan {
  int size = 0;
  FftPlan half;
  std::vector<float> turn;  // exp(-2 pi i k / n): [n/4 + 1][re, im]

  explicit RealFftPlan(int n);
};

// For tests and bench: the transforms of the best instruction set by themselves.  x and y hold size (real:
// size/2 + 1) elements of 2 * lanes floats; returns the one of them that has the result.
int transform_lanes();
float* run_transform(const FftPlan& plan, float* x, float* y, bool inverse);
float* run_real_forward(const RealFftPlan& plan, float* x, float* y);
float* run_real_inverse(const RealFftPlan& plan, float* x, float* y);

}  // namespace miniapps::kernels
