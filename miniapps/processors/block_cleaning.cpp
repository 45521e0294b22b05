#include "miniapps/processors/block_cleaning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "miniapps/kernels/kernels.h"

namespace miniapps::processors {

using formats::DataType;
using formats::FrameView;
using pilot::ErrorCode;
using pilot::Result;

namespace {

constexpr float transmission_floor = 1e-6f;  // opaque, negative and NaN counts become this
constexpr auto no_ceiling = std::numeric_limits<float>::infinity();

pk_status remove_zingers(std::uint16_t* data, int planes, int rows, int columns, float above,
                         pk_error* error) {
  return pk_remove_zingers_u16(data, planes, rows, columns, above, nullptr, error);
}
pk_status remove_zingers(float* data, int planes, int rows, int columns, float above, pk_error* error) {
  return pk_remove_zingers_f32(data, planes, rows, columns, above, nullptr, error);
}

pk_status normalize(const std::uint16_t* raw, const float* flat, const float* dark, const FrameView& block,
                    float* out, pk_error* error) {
  const auto& h = block.header;
  return pk_normalize_minus_log_u16(raw, flat, dark, static_cast<std::int32_t>(h.slice_count),
                                    static_cast<std::int32_t>(h.angles), static_cast<std::int32_t>(h.columns),
                                    transmission_floor, no_ceiling, out, error);
}
pk_status normalize(const float* raw, const float* flat, const float* dark, const FrameView& block,
                    float* out, pk_error* error) {
  const auto& h = block.header;
  return pk_normalize_minus_log_f32(raw, flat, dark, static_cast<std::int32_t>(h.slice_count),
                                    static_cast<std::int32_t>(h.angles), static_cast<std::int32_t>(h.columns),
                                    transmission_floor, no_ceiling, out, error);
}

// The axis that part of the data shows; NaN: none.
Result<double> axis_of(const std::vector<float>& sino, const std::vector<double>& theta, std::int32_t slices,
                       std::int32_t columns) {
  double centre = 0;
  pk_error error{};
  const auto status =
      pk_find_centre(sino.data(), theta.data(), slices, static_cast<std::int32_t>(theta.size()), columns,
                     std::numeric_limits<double>::quiet_NaN(), 0, &centre, &error);
  if (status == PK_OK) return centre;
  if (status == PK_BAD_DATA) return std::numeric_limits<double>::quiet_NaN();
  return kernel_error(error.code, error.message);
}

}  // namespace

pilot::Error kernel_error(std::int32_t code, const char* message) {
  const bool the_block = code == PK_INVALID_ARGUMENT || code == PK_BAD_DATA;
  return pilot::make_error(the_block ? ErrorCode::usage : ErrorCode::failed, message);
}

Result<void> check(const CleaningParameters& p) {
  if (p.zingers && !(*p.zingers > 0))
    return pilot::make_error(ErrorCode::usage, fmt::format("stray photons can't stand {} out", *p.zingers),
                             "give the counts by which they do, above 0");
  if (p.rings && !(*p.rings >= 3 && *p.rings <= 999 && *p.rings % 2 == 1))
    return pilot::make_error(ErrorCode::usage, fmt::format("a window of {} columns can't be", *p.rings),
                             "it can be odd, 3 to 999; 21 is usual");
  return pilot::ok();
}

template <typename T>
Result<void> BlockCleaner::line_integrals_of(const FrameView& block, float* sino) {
  const auto slices = static_cast<std::int32_t>(block.header.slice_count);
  const auto angles = static_cast<std::int32_t>(block.header.angles);
  const auto columns = static_cast<std::int32_t>(block.header.columns);
  const auto* raw = reinterpret_cast<const T*>(block.data.data());
  const float* flat = block.header.has_flats ? block.flat.data() : nullptr;
  const float* dark = block.header.has_flats ? block.dark.data() : nullptr;
  pk_error error{};
  const auto failed = [&] { return kernel_error(error.code, error.message); };
  if (parameters_.zingers) {
    raw_.assign(block.data.begin(), block.data.end());
    auto* const copy = reinterpret_cast<T*>(raw_.data());
    if (remove_zingers(copy, slices, angles, columns, *parameters_.zingers, &error) != PK_OK) return failed();
    raw = copy;
    for (auto [from, kept] : {std::pair(&flat, &flat_), std::pair(&dark, &dark_)}) {
      if (*from == nullptr) continue;
      kept->assign(*from, *from + std::size_t(block.header.slice_count) * block.header.columns);
      // Slice by slice: the result does not depend on how the scan was cut into blocks.
      if (remove_zingers(kept->data(), slices, 1, columns, *parameters_.zingers, &error) != PK_OK)
        return failed();
      *from = kept->data();
    }
  }
  if (normalize(raw, flat, dark, block, sino, &error) != PK_OK) return failed();
  if (parameters_.rings &&
      pk_remove_rings(sino, slices, angles, columns, *parameters_.rings, &error) != PK_OK)
    return failed();
  return pilot::ok();
}

Result<void> BlockCleaner::line_integrals(const FrameView& block, float* sino) {
  return block.header.dtype == DataType::u16 ? line_integrals_of<std::uint16_t>(block, sino)
                                             : line_integrals_of<float>(block, sino);
}

Result<CentreAnswer> find_block_centre(const float* sino, const std::vector<double>& theta,
                                       std::int32_t slices, std::int32_t columns) {
  const auto angles = theta.size();
  const std::size_t row = columns, rows = angles * slices;
  const bool by_slices = slices > 1;
  std::array<std::vector<float>, 2> half;
  std::array<std::vector<double>, 2> half_theta;
  for (std::size_t r = 0; r < rows; ++r) {
    auto& to = half[(by_slices ? r / angles : r) % 2];
    to.insert(to.end(), sino + r * row, sino + (r + 1) * row);
  }
  for (std::size_t a = 0; a < angles; ++a)
    for (std::size_t h = 0; h < 2; ++h)
      if (by_slices || a % 2 == h) half_theta[h].push_back(theta[a]);
  const std::vector<float> whole(sino, sino + rows * row);
  PILOT_TRY(const double centre, axis_of(whole, theta, slices, columns));
  if (std::isnan(centre)) return CentreAnswer{};
  const auto slices_of = [&](int h) { return by_slices ? (slices + 1 - h) / 2 : 1; };
  PILOT_TRY(const double even, axis_of(half[0], half_theta[0], slices_of(0), columns));
  PILOT_TRY(const double odd, axis_of(half[1], half_theta[1], slices_of(1), columns));
  const double doubt = std::abs(even - odd);
  return CentreAnswer{centre, std::isnan(doubt) ? std::numeric_limits<double>::max() : doubt};
}

}  // namespace miniapps::processors
