#include "miniapps/formats/grey_png.hpp"

#include <png.h>

#include <cassert>
#include <cstring>

namespace miniapps::formats {

// The simplified API of libpng 1.6: errors come back as values, not by longjmp.
pilot::Result<std::string> encode_grey_png(std::span<const std::uint8_t> pixels, std::uint32_t width,
                                           std::uint32_t height) {
  assert(pixels.size() == std::size_t{width} * height);
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_GRAY;
  const auto refused = [&image] {
    return pilot::make_error(pilot::ErrorCode::failed, std::string("cannot make a PNG: ") + image.message);
  };
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0)
    return refused();
  bytes.resize(size);
  return bytes;
}

}  // namespace miniapps::formats
