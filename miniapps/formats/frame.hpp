// The message in which a block of detector data travels: one fixed header, then the payload.
//
// All numbers are little-endian.  Offsets in bytes:
//
//     0  u32  magic            0x46544C50, the letters "PLTF"
//     4  u16  version          1
//     6  u16  header_bytes     128; where the payload begins
//     8  u8[16] run_id         random, one per run of a source
//    24  u64  sequence         0, 1, 2 ... within the run
//    32  u64  scan_id          which scan of the run
//    40  u32  slice_begin      first slice (detector row) of the block
//    44  u32  slice_count      slices in the block
//    48  u32  slices_total     slices of the whole scan
//    52  u32  angles           projections
//    56  u32  columns          detector columns (bins)
//    60  u16  dtype            of the raw data: 1 = u16, 2 = f32
//    62  u16  flags            bit 0: flats and darks present
//    64  f64  centre           rotation axis in columns, bin d is centred at d, so (columns-1)/2 is the
//                              middle; NaN: not known
//    72  u64  source_time_ns   Unix time at which the source emitted the block
//    80  u64  payload_bytes
//    88  u64  checksum         XXH3-64 of the payload
//    96  u8[24] reserved       zero
//   120  u64  header_checksum  XXH3-64 of bytes 0 to 119
//   128  payload:
//        f32 theta[angles]                      radians
//        f32 flat[slice_count][columns]         mean flat field   (only with bit 0)
//        f32 dark[slice_count][columns]         mean dark field   (only with bit 0)
//        dtype data[slice_count][angles][columns]   raw counts, sinogram order
//
// A block carries all that is needed to reconstruct it, so any processor can take any message and a
// repeated message gives the same result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pilot/base/result.hpp"

namespace miniapps::formats {

enum class DataType : std::uint16_t { u16 = 1, f32 = 2 };
constexpr std::size_t size_of(DataType type) {
  return type == DataType::u16 ? 2 : 4;
}

inline constexpr std::size_t frame_header_bytes = 128;

struct FrameHeader {
  std::array<std::uint8_t, 16> run_id{};
  std::uint64_t sequence = 0;
  std::uint64_t scan_id = 0;
  std::uint32_t slice_begin = 0;
  std::uint32_t slice_count = 0;
  std::uint32_t slices_total = 0;
  std::uint32_t angles = 0;
  std::uint32_t columns = 0;
  DataType dtype = DataType::u16;
  bool has_flats = false;
  double centre = 0;
  std::uint64_t source_time_ns = 0;
  bool operator==(const FrameHeader&) const = default;
};

// A decoded message; the spans point into the message, nothing is copied.
struct FrameView {
  FrameHeader header;
  std::span<const float> theta;     // [angles]
  std::span<const float> flat;      // [slice_count][columns], empty without flats
  std::span<const float> dark;      // [slice_count][columns], empty without flats
  std::span<const std::byte> data;  // [slice_count][angles][columns] of dtype
};

// Bytes of the payload that `header` describes.
std::size_t payload_bytes(const FrameHeader& header);

// The whole message.  theta, flat, dark and data have the sizes that the header says (asserted).
std::vector<std::byte> encode_frame(const FrameHeader& header, std::span<const float> theta,
                                    std::span<const float> flat, std::span<const float> dark,
                                    std::span<const std::byte> data);

// Sets sequence and source time in an encoded message and renews the header's checksum: a source
// sends the same scan many times without encoding its payload again.
void restamp_frame(std::span<std::byte> message, std::uint64_t sequence, std::uint64_t scan_id,
                   std::uint64_t source_time_ns);

// Checks magic, version, sizes (no overflow, no shape beyond the message), both checksums.  The
// message must be aligned to 4 bytes, as the transports give it (Kafka itself aligns nothing).
// Errors: failed, with what is wrong.
pilot::Result<FrameView> decode_frame(std::span<const std::byte> message);

}  // namespace miniapps::formats
