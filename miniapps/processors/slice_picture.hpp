// A slice as a grey picture that shows something.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace miniapps::processors {

// image [rows][columns] -> pixels [rows][columns]: black is the 0.5th percentile of the values inside the
// circle that the detector sees at every angle, white the 99.8th; outside the circle, where a
// reconstruction is not complete, all is black.  Values that are not finite are black and don't count.
std::vector<std::uint8_t> grey_slice(std::span<const float> image, std::uint32_t rows, std::uint32_t columns);

}  // namespace miniapps::processors
