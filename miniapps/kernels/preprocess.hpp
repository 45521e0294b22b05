// Raw counts to line integrals, means of frames, the circular mask.  Arguments as in kernels.h, checked.
#pragma once

#include <cstdint>

namespace miniapps::kernels {

// A row of flat and dark that is ready to use: out = -log((raw - dark) * gain), gain 0 where the pixel is
// dead.
struct NormalizeRow {
  const float* dark;
  const float* gain;
  float floor;
  float ceiling;
};

void normalize_minus_log(const std::uint16_t* raw, const float* flat, const float* dark, int slices,
                         int angles, int columns, float floor, float ceiling, float* out);
void normalize_minus_log(const float* raw, const float* flat, const float* dark, int slices, int angles,
                         int columns, float floor, float ceiling, float* out);

void mean_frames(const std::uint16_t* in, int frames, std::int64_t pixels, float* mean);
void mean_frames(const float* in, int frames, std::int64_t pixels, float* mean);

void circ_mask(float* image, int slices, int rows, int cols, double ratio, float value);

}  // namespace miniapps::kernels
