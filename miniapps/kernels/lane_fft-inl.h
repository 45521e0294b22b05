// Complex numbers of all lanes, and the transforms of lane_fft_run.cpp as they are called from code of the
// same instruction set (Highway's convention for "-inl.h").  See lane_fft.hpp for the layout.
#if defined(MINIAPPS_KERNELS_LANE_FFT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MINIAPPS_KERNELS_LANE_FFT_INL_H
#undef MINIAPPS_KERNELS_LANE_FFT_INL_H
#else
#define MINIAPPS_KERNELS_LANE_FFT_INL_H
#endif

#include "hwy/highway.h"
#include "miniapps/kernels/lane_fft.hpp"

HWY_BEFORE_NAMESPACE();
namespace miniapps::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LaneTag = hn::ScalableTag<float>;
using Lane = hn::Vec<LaneTag>;
constexpr int lane_count = static_cast<int>(hn::MaxLanes(LaneTag()));

// Constructors are written out, for implied ones would not be compiled for the instruction set (gcc on arm64
// refuses).
struct Complex {
  Lane re, im;
  HWY_INLINE Complex() {}
  HWY_INLINE Complex(Lane r, Lane i) : re(r), im(i) {}
};
HWY_INLINE Complex add(Complex a, Complex b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
HWY_INLINE Complex sub(Complex a, Complex b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
HWY_INLINE Complex scale(Complex a, Lane w) {
  return {hn::Mul(a.re, w), hn::Mul(a.im, w)};
}
// a + w b, w real
HWY_INLINE Complex add_scaled(Complex a, Lane w, Complex b) {
  return {hn::MulAdd(w, b.re, a.re), hn::MulAdd(w, b.im, a.im)};
}
HWY_INLINE Complex mul(Complex a, Lane wr, Lane wi) {
  return {hn::NegMulAdd(a.im, wi, hn::Mul(a.re, wr)), hn::MulAdd(a.im, wr, hn::Mul(a.re, wi))};
}
// a - i b and a + i b without an explicit negation
HWY_INLINE Complex sub_i(Complex a, Complex b) {
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}
HWY_INLINE Complex add_i(Complex a, Complex b) {
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}

HWY_INLINE Complex load(const float* p) {
  const LaneTag d;
  return {hn::Load(d, p), hn::Load(d, p + lane_count)};
}
HWY_INLINE void store(Complex a, float* p) {
  const LaneTag d;
  hn::Store(a.re, d, p);
  hn::Store(a.im, d, p + lane_count);
}

// In lane_fft_run.cpp, once per instruction set.  Data pointers are aligned to a vector.

// Transforms x, using y as the second buffer; returns the one of the two that has the result.
float* transform(const FftPlan& plan, float* x, float* y, bool inverse);
// Real signals x[n] (element k is [x(2k)][x(2k+1)]) to spectrum elements 0 to n/2.  Both buffers hold n/2 + 1
// elements; returns the one that has the spectrum.
float* real_forward(const RealFftPlan& plan, float* x, float* y);
// Spectrum elements 0 to n/2 to n times the real signals; imaginary parts of the first and last are ignored.
float* real_inverse(const RealFftPlan& plan, float* x, float* y);

}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
