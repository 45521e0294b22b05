// From measured rows to the spectra of filtered projections, compiled once per instruction set.
#if defined(MINIAPPS_KERNELS_GRIDREC_FILTER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MINIAPPS_KERNELS_GRIDREC_FILTER_INL_H
#undef MINIAPPS_KERNELS_GRIDREC_FILTER_INL_H
#else
#define MINIAPPS_KERNELS_GRIDREC_FILTER_INL_H
#endif

#include <cmath>
#include <cstring>
#include <numbers>

#include "hwy/highway.h"
#include "miniapps/kernels/gridrec_plan.hpp"
#include "miniapps/kernels/lane_fft-inl.h"

HWY_BEFORE_NAMESPACE();
namespace miniapps::kernels {
namespace HWY_NAMESPACE {

constexpr size_t element = 2 * lane_count;  // floats of one complex number of all lanes

// Four rows of four values to columns: 4 x 4 transpose from `from + i * from_step` to `to + i * to_step`.
HWY_INLINE void transpose4(const float* HWY_RESTRICT from, size_t from_step, float* HWY_RESTRICT to,
                           size_t to_step) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> dd;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_step),
             c = hn::LoadU(d, from + 2 * from_step), e = hn::LoadU(d, from + 3 * from_step);
  const auto ab0 = hn::BitCast(dd, hn::InterleaveLower(d, a, b)),
             ab1 = hn::BitCast(dd, hn::InterleaveUpper(d, a, b));
  const auto ce0 = hn::BitCast(dd, hn::InterleaveLower(d, c, e)),
             ce1 = hn::BitCast(dd, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab0, ce0)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab0, ce0)), d, to + to_step);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab1, ce1)), d, to + 2 * to_step);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab1, ce1)), d, to + 3 * to_step);
}

// Rows of equal length to lanes: x[d][l] = rows[l][d]; what is not finite becomes 0.
HWY_INLINE void rows_to_lanes(const float* const* rows, int length, float* HWY_RESTRICT x) {
  const LaneTag d;
  int c = 0;
  for (; c + 4 <= length; c += 4) {
    for (int l = 0; l < lane_count; l += 4) {
      alignas(16) float block[16];
      for (int i = 0; i < 4; ++i) std::memcpy(block + 4 * i, rows[l + i] + c, 16);
      transpose4(block, 4, x + size_t(c) * lane_count + l, lane_count);
    }
    for (int i = 0; i < 4; ++i) {
      float* const p = x + size_t(c + i) * lane_count;
      const Lane v = hn::Load(d, p);
      hn::Store(hn::IfThenElseZero(hn::IsFinite(v), v), d, p);
    }
  }
  for (; c < length; ++c)
    for (int l = 0; l < lane_count; ++l) {
      const float v = rows[l][c];
      x[size_t(c) * lane_count + l] = std::isfinite(v) ? v : 0.0f;
    }
}

// Fills elements of the filtering transform beyond the columns.
HWY_INLINE void pad_lanes(const GridrecPlan& plan, float* HWY_RESTRICT x) {
  const LaneTag d;
  const int columns = plan.desc.columns, gap = plan.transform - columns;
  if (plan.desc.edge == PK_EDGE_ZERO) {
    std::memset(x + size_t(columns) * lane_count, 0, size_t(gap) * lane_count * sizeof(float));
    return;
  }
  // From the last value over to the first one, which follows in the periodic transform: the values continue
  // for a third of the gap each, and meet in a straight line.
  const Lane right = hn::Load(d, x + size_t(columns - 1) * lane_count), left = hn::Load(d, x);
  for (int i = 0; i < gap; ++i) {
    const float t = HWY_MIN(1.0f, HWY_MAX(0.0f, 3.0f * (i + 0.5f) / static_cast<float>(gap) - 1.0f));
    const Lane v = hn::MulAdd(hn::Set(d, t), hn::Sub(left, right), right);
    hn::Store(v, d, x + size_t(columns + i) * lane_count);
  }
}

// Rotation factors exp(2 pi i f k / M) per lane, by recurrence in double with float steps between anchors.
struct Phase {
  alignas(64) double re[lane_count], im[lane_count];                // at the anchor
  alignas(64) double stride_re[lane_count], stride_im[lane_count];  // anchor to anchor
  alignas(64) float step_re[lane_count], step_im[lane_count];
  alignas(64) float sign[lane_count];  // of the imaginary part
  static constexpr int every = 16;

  void set(int lane, double weight, double cycles, float conjugate) {
    const double angle = 2 * std::numbers::pi * (cycles - std::floor(cycles));
    const double far = cycles * every, far_angle = 2 * std::numbers::pi * (far - std::floor(far));
    re[lane] = weight;
    im[lane] = 0;
    stride_re[lane] = std::cos(far_angle);
    stride_im[lane] = std::sin(far_angle);
    step_re[lane] = static_cast<float>(std::cos(angle));
    step_im[lane] = static_cast<float>(std::sin(angle));
    sign[lane] = conjugate;
  }
  HWY_INLINE Complex anchor_and_advance() {
    const LaneTag d;
    alignas(64) float now_re[lane_count], now_im[lane_count];
    for (int l = 0; l < lane_count; ++l) {
      now_re[l] = static_cast<float>(re[l]);
      now_im[l] = static_cast<float>(im[l]);
      const double t = re[l] * stride_re[l] - im[l] * stride_im[l];
      im[l] = re[l] * stride_im[l] + im[l] * stride_re[l];
      re[l] = t;
    }
    return {hn::Load(d, now_re), hn::Load(d, now_im)};
  }
};

// Spectrum z times filter response and phase; the phase carries the angle's weight.
HWY_INLINE void apply_filter(const GridrecPlan& plan, Phase& phase, float* HWY_RESTRICT z) {
  const LaneTag d;
  const int last = plan.transform / 2;
  const Lane step_re = hn::Load(d, phase.step_re), step_im = hn::Load(d, phase.step_im);
  const Lane sign = hn::Load(d, phase.sign);
  for (int begin = 0; begin <= last; begin += Phase::every) {
    Complex turn = phase.anchor_and_advance();
    const int end = HWY_MIN(begin + Phase::every, last + 1);
    for (int k = begin; k < end; ++k) {
      const Complex w = scale(turn, hn::Set(d, plan.response[k]));
      Complex v = mul(load(z + k * element), w.re, w.im);
      if (plan.direct) v.im = hn::Mul(v.im, sign);
      store(v, z + k * element);
      turn = mul(turn, step_re, step_im);
    }
  }
}

// The filtered projections around the axis, from the long transform to the grid's length.  q holds M real
// values per lane in the order s = 0 1 2 ... -2 -1.
HWY_INLINE void crop(const GridrecPlan& plan, const float* HWY_RESTRICT q, float* HWY_RESTRICT to) {
  const size_t m = plan.transform, l = plan.grid, row = lane_count;
  const size_t front = HWY_MIN(l, m) / 2, back = HWY_MIN(l, m) - front;
  std::memcpy(to, q, front * row * sizeof(float));
  std::memset(to + front * row, 0, (l - front - back) * row * sizeof(float));
  std::memcpy(to + (l - back) * row, q + (m - back) * row, back * row * sizeof(float));
}

// The signals of `angles_here` angles of all slices in x: to spectra on the grid's radial raster.
HWY_INLINE float* filtered_spectra(const GridrecPlan& plan, Phase& phase, float* x, float* y) {
  const LaneTag d;
  float* z = real_forward(plan.filtering, x, y);
  apply_filter(plan, phase, z);
  if (!plan.direct) {
    float* other = z == x ? y : x;
    float* const q = real_inverse(plan.filtering, z, other);
    other = q == x ? y : x;
    crop(plan, q, other);
    z = real_forward(plan.radial, other, q);
    const Lane sign = hn::Load(d, phase.sign);
    for (int k = 0; k <= plan.grid / 2; ++k) {
      float* const im = z + k * element + lane_count;
      hn::Store(hn::Mul(hn::Load(d, im), sign), d, im);
    }
  }
  // The first and the last sample are their own mirror images: each half plane has half of them.
  const Lane half = hn::Set(d, 0.5f);
  store(scale(load(z), half), z);
  float* const last = z + size_t(plan.grid / 2) * element;
  store(scale(load(last), half), last);
  return z;
}

}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();
#endif  // per-target guard
