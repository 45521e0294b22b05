// libFuzzer target: any bytes into decode_frame.  The checksums are made right first (a fuzzer does
// not guess 64-bit hashes), so that everything behind them is reached.
#include <xxhash.h>

#include <cstring>
#include <vector>

#include "miniapps/formats/frame.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> message(size);
  if (size > 0) std::memcpy(message.data(), data, size);
  (void)miniapps::formats::decode_frame(message);
  if (size < miniapps::formats::frame_header_bytes) return 0;

  const auto seal = [&](std::size_t at, std::uint64_t value) { std::memcpy(&message[at], &value, 8); };
  seal(88, XXH3_64bits(message.data() + 128, message.size() - 128));
  seal(80, message.size() - 128);
  seal(120, XXH3_64bits(message.data(), 120));
  if (const auto view = miniapps::formats::decode_frame(message)) {
    const auto& value = view.value();
    double sum = 0;
    for (const auto part : {value.theta, value.flat, value.dark})
      for (const float f : part) sum += f;
    for (const auto byte : value.data) sum += std::to_integer<int>(byte);
    volatile double sink = sum;
    (void)sink;
  }
  return 0;
}
