// An 8-bit grey picture as a PNG file's bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pilot/base/result.hpp"

namespace miniapps::formats {

// pixels [height][width], row 0 at the top.  Same pixels, same bytes.  Errors: failed, internal.
pilot::Result<std::string> encode_grey_png(std::span<const std::uint8_t> pixels, std::uint32_t width,
                                           std::uint32_t height);

}  // namespace miniapps::formats
