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
  const VF one = hn::Set(d, 1.0f), inverse_width = hn::Set(d, static_cast<float>(1 / g.width));
  const VF ramp = hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<float>(g.slope)));
  // Left end of the piece of ray 0, counted so that pixel i covers [i, i + 1).
  const double start = g.offset + l * g.step + 0.5 - 0.5 * g.width, inverse = 1 / g.slope;
  const Range rays(std::ceil((-1.0 - start) * inverse), std::floor((block.size - start) * inverse) + 1,
                   block.columns);
  const std::size_t at = l * block.line_pitch;
  float* const row = block.row(angle, 0);
  for (int b = rays.begin; b < rays.end; b += lanes) {
    const double position = b * g.slope + start, base = std::floor(position);
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(at) + static_cast<std::ptrdiff_t>(base);
    const VF offset = hn::Add(ramp, hn::Set(d, static_cast<float>(position - base)));
    const VI index = hn::ConvertTo(I(), offset);
    const VF part = hn::Sub(offset, hn::ConvertTo(d, index));
    const VF weight = covered(hn::Sub(one, part), inverse_width);
    const Lookup lookup(index);
    for (int k = 0; k < K; ++k) {
      const float* const pixels = block.image[k] + from;
      const VF left = lookup(hn::LoadU(d, pixels), hn::LoadU(d, pixels + lanes));
      const VF right = lookup(hn::LoadU(d, pixels + 1), hn::LoadU(d, pixels + lanes + 1));
      const VF value = hn::MulAdd(weight, hn::Sub(left, right), right);
      float* const to = row + k * block.row_pitch + b;
      hn::StoreU(hn::Add(hn::LoadU(d, to), value), d, to);
    }
  }
}

template <int K>
HWY_INLINE void back_project_line(const LineBlock& block, int angle, int l) {
  const F d;
  const LineGeometry& g = block.geometry[angle];
  const double inverse = 1 / g.slope,
               reach = 0.5 + 0.5 * g.width;  // a piece this near to a pixel's middle touches it
  const VF ramp = hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<float>(inverse)));
  const VF slope = hn::Set(d, static_cast<float>(g.slope)), far = hn::Set(d, static_cast<float>(reach));
  const VF nearest = hn::Set(d, static_cast<float>(g.slope - reach));
  const VF inverse_width = hn::Set(d, static_cast<float>(1 / g.width));
  const double at = g.offset + l * g.step;
  const Range pixels(std::ceil(at - 1.0), std::floor(at + 1.0 + g.slope * block.columns) + 1, block.size);
  const float* const row = block.row(angle, 0);
  for (int i = pixels.begin; i < pixels.end; i += lanes) {
    // The rays that may touch pixel i are the two next ones after this position.
    const double position = (i - at - reach) * inverse, base = std::floor(position);
    const float* const from = row + static_cast<std::ptrdiff_t>(base) + 1;
    const VF offset = hn::Add(ramp, hn::Set(d, static_cast<float>(position - base)));
    const VI index = hn::ConvertTo(I(), offset);
    const VF part = hn::Sub(offset, hn::ConvertTo(d, index));
    const VF distance = hn::NegMulAdd(slope, part, nearest);  // of the first ray from the pixel's middle
    const VF weight_0 = covered(hn::Sub(far, hn::Abs(distance)), inverse_width);
    const VF weight_1 = covered(hn::Sub(far, hn::Add(distance, slope)), inverse_width);
    const Lookup lookup(index);
    for (int k = 0; k < K; ++k) {
      const float* const rays = from + k * block.row_pitch;
      const VF ray_0 = lookup(hn::LoadU(d, rays), hn::LoadU(d, rays + lanes));
      const VF ray_1 = lookup(hn::LoadU(d, rays + 1), hn::LoadU(d, rays + lanes + 1));
      float* const to = block.image[k] + l * block.line_pitch + i;
      hn::StoreU(hn::MulAdd(weight_1, ray_1, hn::MulAdd(weight_0, ray_0, hn::LoadU(d, to))), d, to);
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
