#include "miniapps/kernels/projector.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "miniapps/kernels/projector.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <cmath>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace miniapps::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;
constexpr int lanes = static_cast<int>(hn::MaxLanes(F()));

// Positions (0 to 2 * lanes - 1, half taken off) to whole and rest: adding 1.5 * 2^23 rounds to the nearest
// whole number and leaves it in the low bits.
struct Split {
  explicit HWY_INLINE Split(VF position_minus_half) {
    const VF magic = hn::Set(F(), 12582912.0f), sum = hn::Add(position_minus_half, magic);
    whole = hn::BitCast(I(), sum);
    rest = hn::Sub(position_minus_half, hn::Sub(sum, magic));  // -0.5 to 0.5
  }
  VI whole;  // the low bits
  VF rest;
};

// Values at places of two neighbouring vectors, which hold all: slopes are at most sqrt(2).
struct Lookup {
#if HWY_TARGET == HWY_AVX3
  explicit HWY_INLINE Lookup(VI low_bits) : index(low_bits) {}
  HWY_INLINE VF operator()(const float* p) const {
    const F d;
    return VF{_mm512_permutex2var_ps(hn::LoadU(d, p).raw, index.raw, hn::LoadU(d, p + lanes).raw)};
  }
  VI index;
#else
  explicit HWY_INLINE Lookup(VI low_bits)
      : place(hn::IndicesFromVec(F(), hn::And(low_bits, hn::Set(I(), lanes - 1)))),
        upper(hn::RebindMask(F(), hn::Ne(hn::And(low_bits, hn::Set(I(), lanes)), hn::Zero(I())))) {}
  HWY_INLINE VF operator()(const float* p) const {
    const F d;
    return hn::IfThenElse(upper, hn::TableLookupLanes(hn::LoadU(d, p + lanes), place),
                          hn::TableLookupLanes(hn::LoadU(d, p), place));
  }
  decltype(hn::IndicesFromVec(F(), VI())) place;
  decltype(hn::RebindMask(F(), hn::Ne(VI(), VI()))) upper;
#endif
};

// The part of a piece of ray that lies in a pixel, from the length that they share at most.
HWY_INLINE VF covered(VF reach, VF inverse_width) {
  const F d;
  return hn::Min(hn::Set(d, 1.0f), hn::Max(hn::Zero(d), hn::Mul(reach, inverse_width)));
}

// Indices from `first` to before `last`, cut to 0 .. size.
struct Range {
  HWY_INLINE Range(double first, double last, int size)
      : begin(first > 0 ? static_cast<int>(HWY_MIN(first, double(size))) : 0),
        end(last < size ? static_cast<int>(HWY_MAX(last, 0.0)) : size) {}
  int begin, end;
};

template <int K>
HWY_INLINE void project_line(const LineBlock& block, int angle, int l) {
  const F d;
  const LineGeometry& g = block.geometry[angle];
  const VF half = hn::Set(d, 0.5f), inverse_width = hn::Set(d, static_cast<float>(1 / g.width));
  const VF ramp = hn::Sub(hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<float>(g.slope))), half);
  // Left end of the piece of ray 0, counted so that pixel i covers [i, i + 1).
  const double start = g.offset + l * g.step + 0.5 - 0.5 * g.width, inverse = 1 / g.slope;
  const Range rays(std::ceil((-1.0 - start) * inverse), std::floor((block.size - start) * inverse) + 1,
                   block.columns);
  const float* images[K];
  float* rows[K];
  for (int k = 0; k < K; ++k)
    images[k] = block.image[k] + l * block.line_pitch, rows[k] = block.row(angle, k);
  for (int b = rays.begin; b < rays.end; b += lanes) {
    const double position = b * g.slope + start, base = std::floor(position);
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(base);
    const Split split(hn::Add(ramp, hn::Set(d, static_cast<float>(position - base))));
    const VF weight = covered(hn::Sub(half, split.rest), inverse_width);
    const Lookup lookup(split.whole);
    for (int k = 0; k < K; ++k) {
      const VF left = lookup(images[k] + from), right = lookup(images[k] + from + 1);
      const VF value = hn::MulAdd(weight, hn::Sub(left, right), right);
      hn::StoreU(hn::Add(hn::LoadU(d, rows[k] + b), value), d, rows[k] + b);
    }
  }
}

template <int K>
HWY_INLINE void back_project_line(const LineBlock& block, int angle, int l) {
  const F d;
  const LineGeometry& g = block.geometry[angle];
  const double inverse = 1 / g.slope,
               reach = 0.5 + 0.5 * g.width;  // a piece this near to a pixel's middle touches it
  const VF half = hn::Set(d, 0.5f);
  const VF ramp = hn::Sub(hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<float>(inverse))), half);
  const VF slope = hn::Set(d, static_cast<float>(g.slope)), far = hn::Set(d, static_cast<float>(reach));
  const VF middle = hn::Set(d, static_cast<float>(0.5 * g.slope - reach));
  const VF inverse_width = hn::Set(d, static_cast<float>(1 / g.width));
  const double at = g.offset + l * g.step;
  const Range pixels(std::ceil(at - 1.0), std::floor(at + 1.0 + g.slope * block.columns) + 1, block.size);
  float* images[K];
  const float* rows[K];
  for (int k = 0; k < K; ++k)
    images[k] = block.image[k] + l * block.line_pitch, rows[k] = block.row(angle, k) + 1;
  for (int i = pixels.begin; i < pixels.end; i += lanes) {
    // The rays that may touch pixel i are the two next ones after this position.
    const double position = (i - at - reach) * inverse, base = std::floor(position);
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(base);
    const Split split(hn::Add(ramp, hn::Set(d, static_cast<float>(position - base))));
    const VF distance = hn::NegMulAdd(slope, split.rest, middle);  // of the first ray from the pixel's middle
    const VF weight_0 = covered(hn::Sub(far, hn::Abs(distance)), inverse_width);
    const VF weight_1 = covered(hn::Sub(far, hn::Add(distance, slope)), inverse_width);
    const Lookup lookup(split.whole);
    for (int k = 0; k < K; ++k) {
      const VF ray_0 = lookup(rows[k] + from), ray_1 = lookup(rows[k] + from + 1);
      const VF sum = hn::MulAdd(weight_1, ray_1, hn::MulAdd(weight_0, ray_0, hn::LoadU(d, images[k] + i)));
      hn::StoreU(sum, d, images[k] + i);
    }
  }
}

template <int K>
HWY_INLINE void over_lines(const LineBlock& block, bool back) {
  for (int l = 0; l < block.size; ++l)
    for (int a = 0; a < block.angles; ++a) {
      if (back)
        back_project_line<K>(block, a, l);
      else
        project_line<K>(block, a, l);
    }
}

void over_lines_any(const LineBlock& block, bool back) {
  switch (block.slices) {
    case 1:
      return over_lines<1>(block, back);
    case 2:
      return over_lines<2>(block, back);
    case 3:
      return over_lines<3>(block, back);
    default:
      return over_lines<4>(block, back);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace miniapps::kernels {

HWY_EXPORT(over_lines_any);

void project_lines(const LineBlock& block) {
  HWY_DYNAMIC_DISPATCH(over_lines_any)(block, false);
}
void back_project_lines(const LineBlock& block) {
  HWY_DYNAMIC_DISPATCH(over_lines_any)(block, true);
}

}  // namespace miniapps::kernels
#endif
