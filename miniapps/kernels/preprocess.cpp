#include "miniapps/kernels/preprocess.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "miniapps/kernels/preprocess.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace miniapps::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_as_float(D d, const float* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load_as_float(D d, const std::uint16_t* p) {
  const hn::Rebind<std::uint16_t, D> d16;
  const hn::Rebind<std::int32_t, D> d32;
  return hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d16, p)));
}

// clamp treats a NaN as opaque: max(x, floor) with x first gives floor.
template <class D>
HWY_INLINE hn::Vec<D> minus_log(D d, hn::Vec<D> transmission, const NormalizeRow& row) {
  const auto low = hn::Set(d, row.floor);
  const auto bounded = hn::IfThenElse(hn::Gt(transmission, low), transmission, low);
  return hn::Neg(hn::Log(d, hn::Min(bounded, hn::Set(d, row.ceiling))));
}

template <typename T>
HWY_INLINE void normalize_row_of(const T* raw, const NormalizeRow& row, int columns, float* out) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int c = 0;
  for (; c + lanes <= columns; c += lanes) {
    const auto counts = hn::Sub(load_as_float(d, raw + c), hn::LoadU(d, row.dark + c));
    hn::StoreU(minus_log(d, hn::Mul(counts, hn::LoadU(d, row.gain + c)), row), d, out + c);
  }
  const hn::CappedTag<float, 1>
      one;  // the same operations for the rest, so that all columns are treated alike
  for (; c < columns; ++c) {
    const auto counts = hn::Sub(load_as_float(one, raw + c), hn::LoadU(one, row.dark + c));
    hn::StoreU(minus_log(one, hn::Mul(counts, hn::LoadU(one, row.gain + c)), row), one, out + c);
  }
}

void normalize_row_u16(const std::uint16_t* raw, const NormalizeRow& row, int columns, float* out) {
  normalize_row_of(raw, row, columns, out);
}
void normalize_row_f32(const float* raw, const NormalizeRow& row, int columns, float* out) {
  normalize_row_of(raw, row, columns, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <limits>
#include <vector>

namespace miniapps::kernels {
namespace {

HWY_EXPORT(normalize_row_u16);
HWY_EXPORT(normalize_row_f32);

void normalize_row(const std::uint16_t* raw, const NormalizeRow& row, int columns, float* out) {
  HWY_DYNAMIC_DISPATCH(normalize_row_u16)(raw, row, columns, out);
}
void normalize_row(const float* raw, const NormalizeRow& row, int columns, float* out) {
  HWY_DYNAMIC_DISPATCH(normalize_row_f32)(raw, row, columns, out);
}

// Replaces the values of dead columns by straight lines between the nearest live ones.
void bridge_dead(const std::vector<int>& dead, const std::vector<char>& is_dead, int columns, float* row) {
  for (std::size_t i = 0; i < dead.size();) {
    const int begin = dead[i];
    int end = begin;
    while (end < columns && is_dead[end]) ++end;
    i += end - begin;
    const bool has_left = begin > 0, has_right = end < columns;
    const float left = has_left ? row[begin - 1] : has_right ? row[end] : 0.0f;
    const float right = has_right ? row[end] : left;
    for (int c = begin; c < end; ++c)
      row[c] =
          left + (right - left) * static_cast<float>(c - begin + 1) / static_cast<float>(end - begin + 1);
  }
}

// A pixel that answers to the beam with less than this is dead: a fiftieth of the row's median.
float least_response(const std::vector<float>& open, std::vector<float>& sorted) {
  sorted.clear();
  for (float v : open)
    if (v > 0 && std::isfinite(v)) sorted.push_back(v);
  if (sorted.empty()) return std::numeric_limits<float>::infinity();
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return std::max(0.02f * sorted[sorted.size() / 2], std::numeric_limits<float>::min());
}

template <typename T>
void normalize_all(const T* raw, const float* flat, const float* dark, int slices, int angles, int columns,
                   float floor, float ceiling, float* out) {
  std::vector<float> offset(columns), open(columns), gain(columns), sorted;
  std::vector<char> is_dead(columns);
  std::vector<int> dead;
  for (int s = 0; s < slices; ++s) {
    for (int c = 0; c < columns; ++c) {
      const std::size_t i = std::size_t(s) * columns + c;
      offset[c] = dark == nullptr ? 0.0f : dark[i];
      open[c] = flat == nullptr ? 1.0f : flat[i] - offset[c];
    }
    const float least = least_response(open, sorted);
    dead.clear();
    for (int c = 0; c < columns; ++c) {
      is_dead[c] = !(open[c] > least && std::isfinite(open[c]));
      gain[c] = is_dead[c] ? 0.0f : 1 / open[c];
      if (is_dead[c]) dead.push_back(c);
    }
    const NormalizeRow row{offset.data(), gain.data(), floor, ceiling};
    for (int a = 0; a < angles; ++a) {
      const std::size_t at = (std::size_t(s) * angles + a) * columns;
      normalize_row(raw + at, row, columns, out + at);
      if (!dead.empty()) bridge_dead(dead, is_dead, columns, out + at);
    }
  }
}

template <typename T>
void mean_all(const T* in, int frames, std::int64_t pixels, float* mean) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    double sum = 0;
    int count = 0;
    for (int f = 0; f < frames; ++f) {
      const double v = static_cast<double>(in[f * pixels + p]);
      if (!std::isfinite(v)) continue;
      sum += v;
      ++count;
    }
    mean[p] = count > 0 ? static_cast<float>(sum / count) : 0.0f;
  }
}

}  // namespace

void normalize_minus_log(const std::uint16_t* raw, const float* flat, const float* dark, int slices,
                         int angles, int columns, float floor, float ceiling, float* out) {
  normalize_all(raw, flat, dark, slices, angles, columns, floor, ceiling, out);
}
void normalize_minus_log(const float* raw, const float* flat, const float* dark, int slices, int angles,
                         int columns, float floor, float ceiling, float* out) {
  normalize_all(raw, flat, dark, slices, angles, columns, floor, ceiling, out);
}

void mean_frames(const std::uint16_t* in, int frames, std::int64_t pixels, float* mean) {
  mean_all(in, frames, pixels, mean);
}
void mean_frames(const float* in, int frames, std::int64_t pixels, float* mean) {
  mean_all(in, frames, pixels, mean);
}

void circ_mask(float* image, int slices, int rows, int cols, double ratio, float value) {
  const double radius = ratio * std::min(rows, cols) / 2;
  for (int r = 0; r < rows; ++r) {
    const double y = r + 0.5 - rows / 2.0, rest = radius * radius - y * y;
    // Columns c with |c + 0.5 - cols/2| <= half stay.
    const double half = rest >= 0 ? std::sqrt(rest) : -1;
    const int begin = half < 0 ? cols : std::clamp(int(std::ceil(cols / 2.0 - 0.5 - half)), 0, cols);
    const int end = half < 0 ? cols : std::clamp(int(std::floor(cols / 2.0 - 0.5 + half)) + 1, begin, cols);
    for (int s = 0; s < slices; ++s) {
      float* const row = image + (std::size_t(s) * rows + r) * cols;
      std::fill(row, row + begin, value);
      std::fill(row + end, row + cols, value);
    }
  }
}

}  // namespace miniapps::kernels
#endif
