// Taking artefacts out of measured data: stray photons, rings.  Arguments as in kernels.h, checked.
#pragma once

#include <cstdint>

namespace miniapps::kernels {

// Returns how many values were replaced.
std::int64_t remove_zingers(std::uint16_t* data, int planes, int rows, int columns, float threshold);
std::int64_t remove_zingers(float* data, int planes, int rows, int columns, float threshold);

void remove_rings(float* sino, int slices, int angles, int columns, int window);

}  // namespace miniapps::kernels
