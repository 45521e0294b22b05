#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "miniapps/kernels/lane_fft_run.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "miniapps/kernels/lane_fft-inl.h"

HWY_BEFORE_NAMESPACE();
namespace miniapps::kernels {
namespace HWY_NAMESPACE {
// Butterflies: forward transforms (exp(-2 pi i jk / R)) in place.
HWY_INLINE void butterfly(Complex (&a)[2]) {
  const Complex t = a[0];
  a[0] = add(t, a[1]);
  a[1] = sub(t, a[1]);
}
HWY_INLINE void butterfly(Complex (&a)[3]) {
  const LaneTag d;
  const Complex sum = add(a[1], a[2]), diff = scale(sub(a[1], a[2]), hn::Set(d, 0.86602540378443864676f));
  const Complex mid = add_scaled(a[0], hn::Set(d, -0.5f), sum);
  a[0] = add(a[0], sum);
  a[1] = sub_i(mid, diff);
  a[2] = add_i(mid, diff);
}
HWY_INLINE void butterfly(Complex (&a)[4]) {
  const Complex s02 = add(a[0], a[2]), d02 = sub(a[0], a[2]), s13 = add(a[1], a[3]), d13 = sub(a[1], a[3]);
  a[0] = add(s02, s13);
  a[1] = sub_i(d02, d13);
  a[2] = sub(s02, s13);
  a[3] = add_i(d02, d13);
}
HWY_INLINE void butterfly(Complex (&a)[5]) {
  const LaneTag d;
  const Lane c1 = hn::Set(d, 0.30901699437494742410f), c2 = hn::Set(d, -0.80901699437494742410f);
  const Lane s1 = hn::Set(d, 0.95105651629515357212f), s2 = hn::Set(d, 0.58778525229247312917f);
  const Complex p14 = add(a[1], a[4]), m14 = sub(a[1], a[4]), p23 = add(a[2], a[3]), m23 = sub(a[2], a[3]);
  const Complex r1 = add_scaled(add_scaled(a[0], c1, p14), c2, p23);
  const Complex r2 = add_scaled(add_scaled(a[0], c2, p14), c1, p23);
  const Complex i1 = add_scaled(scale(m14, s1), s2, m23);
  const Complex i2 = sub(scale(m14, s2), scale(m23, s1));
  a[0] = add(a[0], add(p14, p23));
  a[1] = sub_i(r1, i1);
  a[2] = sub_i(r2, i2);
  a[3] = add_i(r2, i2);
  a[4] = add_i(r1, i1);
}
HWY_INLINE void butterfly(Complex (&a)[8]) {
  const Lane h = hn::Set(LaneTag(), 0.70710678118654752440f);
  Complex e[4] = {a[0], a[2], a[4], a[6]}, o[4] = {a[1], a[3], a[5], a[7]};
  butterfly(e);
  butterfly(o);
  const Complex o1 = {hn::Mul(h, hn::Add(o[1].re, o[1].im)), hn::Mul(h, hn::Sub(o[1].im, o[1].re))};
  const Complex o3 = {hn::Mul(h, hn::Sub(o[3].im, o[3].re)), hn::Neg(hn::Mul(h, hn::Add(o[3].re, o[3].im)))};
  a[0] = add(e[0], o[0]);
  a[4] = sub(e[0], o[0]);
  a[1] = add(e[1], o1);
  a[5] = sub(e[1], o1);
  a[2] = sub_i(e[2], o[2]);
  a[6] = add_i(e[2], o[2]);
  a[3] = add(e[3], o3);
  a[7] = sub(e[3], o3);
}

// One stage from x to y.  re, im: offsets of the two parts in an element; swapping them gives the inverse
// transform.
template <int R>
HWY_INLINE void stage(const FftPlan::Stage& st, const float* twiddles, const float* HWY_RESTRICT x,
                      float* HWY_RESTRICT y, int re, int im) {
  const LaneTag d;
  constexpr size_t E = 2 * lane_count;
  const size_t s = st.stride, m = st.count;
  for (size_t p = 0; p < m; ++p) {
    const float* w = twiddles + st.twiddles + p * 2 * (R - 1);
    for (size_t q = 0; q < s; ++q) {
      Complex a[R];
      for (int j = 0; j < R; ++j) {
        const float* from = x + (q + s * (p + m * j)) * E;
        a[j] = {hn::Load(d, from + re), hn::Load(d, from + im)};
      }
      butterfly(a);
      float* to = y + (q + s * (R * p)) * E;
      hn::Store(a[0].re, d, to + re);
      hn::Store(a[0].im, d, to + im);
      for (int k = 1; k < R; ++k) {
        if (m > 1) a[k] = mul(a[k], hn::Set(d, w[2 * k - 2]), hn::Set(d, w[2 * k - 1]));
        hn::Store(a[k].re, d, to + k * s * E + re);
        hn::Store(a[k].im, d, to + k * s * E + im);
      }
    }
  }
}

float* transform(const FftPlan& plan, float* x, float* y, bool inverse) {
  const int re = inverse ? lane_count : 0, im = lane_count - re;
  for (const FftPlan::Stage& st : plan.stages) {
    const float* w = plan.twiddles.data();
    switch (st.radix) {
      case 2:
        stage<2>(st, w, x, y, re, im);
        break;
      case 3:
        stage<3>(st, w, x, y, re, im);
        break;
      case 4:
        stage<4>(st, w, x, y, re, im);
        break;
      case 5:
        stage<5>(st, w, x, y, re, im);
        break;
      default:
        stage<8>(st, w, x, y, re, im);
    }
    float* const t = x;
    x = y;
    y = t;
  }
  return x;
}

float* real_forward(const RealFftPlan& plan, float* x, float* y) {
  const LaneTag d;
  constexpr size_t E = 2 * lane_count;
  float* z = transform(plan.half, x, y, false);
  const size_t h = plan.size / 2;
  const Complex first = load(z);
  const Lane zero = hn::Zero(d), half = hn::Set(d, 0.5f);
  store({hn::Add(first.re, first.im), zero}, z);
  store({hn::Sub(first.re, first.im), zero}, z + h * E);
  for (size_t k = 1; k <= h / 2; ++k) {
    const Complex a = load(z + k * E), b = load(z + (h - k) * E);
    const Complex even = {hn::Mul(half, hn::Add(a.re, b.re)), hn::Mul(half, hn::Sub(a.im, b.im))};
    const Complex odd = {hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
    const Complex t = mul(odd, hn::Set(d, plan.turn[2 * k]), hn::Set(d, plan.turn[2 * k + 1]));
    store(add(even, t), z + k * E);
    store({hn::Sub(even.re, t.re), hn::Sub(t.im, even.im)}, z + (h - k) * E);
  }
  return z;
}

float* real_inverse(const RealFftPlan& plan, float* x, float* y) {
  const LaneTag d;
  constexpr size_t E = 2 * lane_count;
  const size_t h = plan.size / 2;
  const Lane first = hn::Load(d, x), last = hn::Load(d, x + h * E);
  store({hn::Add(first, last), hn::Sub(first, last)}, x);
  for (size_t k = 1; k <= h / 2; ++k) {
    const Complex a = load(x + k * E), b = load(x + (h - k) * E);
    const Complex even = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
    const Complex diff = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
    const Complex t = mul(diff, hn::Set(d, plan.turn[2 * k]), hn::Neg(hn::Set(d, plan.turn[2 * k + 1])));
    store(add_i(even, t), x + k * E);
    const Complex other = sub_i(even, t);
    store({other.re, hn::Neg(other.im)}, x + (h - k) * E);
  }
  return transform(plan.half, x, y, true);
}

int lanes_here() {
  return lane_count;
}
}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace miniapps::kernels {

HWY_EXPORT(lanes_here);
HWY_EXPORT(transform);
HWY_EXPORT(real_forward);
HWY_EXPORT(real_inverse);

int transform_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes_here)();
}
float* run_transform(const FftPlan& plan, float* x, float* y, bool inverse) {
  return HWY_DYNAMIC_DISPATCH(transform)(plan, x, y, inverse);
}
float* run_real_forward(const RealFftPlan& plan, float* x, float* y) {
  return HWY_DYNAMIC_DISPATCH(real_forward)(plan, x, y);
}
float* run_real_inverse(const RealFftPlan& plan, float* x, float* y) {
  return HWY_DYNAMIC_DISPATCH(real_inverse)(plan, x, y);
}

}  // namespace miniapps::kernels
#endif
