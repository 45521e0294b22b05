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

// Values at places idx (0 to 2 * lanes - 1) of two neighbouring vectors.
struct Lookup {
  explicit HWY_INLINE Lookup(VI idx) : index(idx) {}
  HWY_INLINE VF operator()(VF low, VF high) const {
#if HWY_TARGET == HWY_AVX3
    return VF{_mm512_permutex2var_ps(low.raw, index.raw, high.raw)};
#else
    const F d;
    const I di;
    const auto place = hn::IndicesFromVec(d, hn::And(index, hn::Set(di, lanes - 1)));
    const auto upper = hn::RebindMask(d, hn::Gt(index, hn::Set(di, lanes - 1)));
    return hn::IfThenElse(upper, hn::TableLookupLanes(high, place), hn::TableLookupLanes(low, place));
#endif
  }
  VI index;
};

// The part of a piece of ray that lies in a pixel, from the length that they share at most.
HWY_INLINE VF covered(VF reach, VF inverse_width) {
  const F d;
  return hn::Min(hn::Set(d, 1.0f), hn::Max(hn::Zero(d), hn::Mul(reach, inverse_width)));
}

void project_lines_of(const LineGeometry& g, const float* HWY_RESTRICT image, float* HWY_RESTRICT bins) {
  const F d;
  const VF one = hn::Set(d, 1.0f), inverse_width = hn::Set(d, static_cast<float>(1 / g.width));
  const VF ramp = hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<float>(g.slope)));
  for (int l = 0; l < g.size; ++l) {
    // Left end of the piece of ray 0, counted so that pixel i covers [i, i + 1).
    const double start = g.offset + l * g.step + 0.5 - 0.5 * g.width;
    const double first = std::ceil((-1.0 - start) / g.slope), last = std::floor((g.size - start) / g.slope);
    const int begin = first > 0 ? static_cast<int>(HWY_MIN(first, double(g.columns))) : 0;
    const int end = last < g.columns - 1 ? static_cast<int>(HWY_MAX(last, -1.0)) + 1 : g.columns;
    const float* const line = image + l * g.pitch;
    for (int b = begin; b < end; b += lanes) {
      const double position = b * g.slope + start, base = std::floor(position);
      const float* const from = line + static_cast<std::ptrdiff_t>(base);
      const VF offset = hn::Add(ramp, hn::Set(d, static_cast<float>(position - base)));
      const VI index = hn::ConvertTo(I(), offset);
      const VF part = hn::Sub(offset, hn::ConvertTo(d, index));
      const VF weight = covered(hn::Sub(one, part), inverse_width);
      const Lookup lookup(index);
      const VF left = lookup(hn::LoadU(d, from), hn::LoadU(d, from + lanes));
      const VF right = lookup(hn::LoadU(d, from + 1), hn::LoadU(d, from + lanes + 1));
      const VF value = hn::MulAdd(weight, hn::Sub(left, right), right);
      hn::StoreU(hn::Add(hn::LoadU(d, bins + b), value), d, bins + b);
    }
  }
}

void back_project_lines_of(const LineGeometry& g, const float* HWY_RESTRICT bins, float* HWY_RESTRICT image) {
  const F d;
  const double inverse = 1 / g.slope,
               reach = 0.5 + 0.5 * g.width;  // a piece this near to a pixel's middle touches it
  const VF ramp = hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<float>(inverse)));
  const VF slope = hn::Set(d, static_cast<float>(g.slope)), far = hn::Set(d, static_cast<float>(reach));
  const VF nearest = hn::Set(d, static_cast<float>(g.slope - reach));
  const VF inverse_width = hn::Set(d, static_cast<float>(1 / g.width));
  for (int l = 0; l < g.size; ++l) {
    const double at = g.offset + l * g.step;
    const double first = std::ceil(at - 1.0), last = std::floor(at + 1.0 + g.slope * g.columns);
    const int begin = first > 0 ? static_cast<int>(HWY_MIN(first, double(g.size))) : 0;
    const int end = last < g.size - 1 ? static_cast<int>(HWY_MAX(last, -1.0)) + 1 : g.size;
    float* const line = image + l * g.pitch;
    for (int i = begin; i < end; i += lanes) {
      // The rays that may touch pixel i are the two next ones after this position.
      const double position = (i - at - reach) * inverse, base = std::floor(position);
      const float* const from = bins + static_cast<std::ptrdiff_t>(base) + 1;
      const VF offset = hn::Add(ramp, hn::Set(d, static_cast<float>(position - base)));
      const VI index = hn::ConvertTo(I(), offset);
      const VF part = hn::Sub(offset, hn::ConvertTo(d, index));
      const VF distance = hn::NegMulAdd(slope, part, nearest);  // of the first ray from the pixel's middle
      const VF weight_0 = covered(hn::Sub(far, hn::Abs(distance)), inverse_width);
      const VF weight_1 = covered(hn::Sub(far, hn::Add(distance, slope)), inverse_width);
      const Lookup lookup(index);
      const VF ray_0 = lookup(hn::LoadU(d, from), hn::LoadU(d, from + lanes));
      const VF ray_1 = lookup(hn::LoadU(d, from + 1), hn::LoadU(d, from + lanes + 1));
      const VF sum = hn::MulAdd(weight_1, ray_1, hn::MulAdd(weight_0, ray_0, hn::LoadU(d, line + i)));
      hn::StoreU(sum, d, line + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace miniapps::kernels {

HWY_EXPORT(project_lines_of);
HWY_EXPORT(back_project_lines_of);

void project_lines(const LineGeometry& geometry, const float* image, float* bins) {
  HWY_DYNAMIC_DISPATCH(project_lines_of)(geometry, image, bins);
}
void back_project_lines(const LineGeometry& geometry, const float* bins, float* image) {
  HWY_DYNAMIC_DISPATCH(back_project_lines_of)(geometry, bins, image);
}

}  // namespace miniapps::kernels
#endif
