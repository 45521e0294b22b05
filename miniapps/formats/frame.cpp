#include "miniapps/formats/frame.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <optional>

namespace miniapps::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "the message is little-endian and read in place");

constexpr std::uint32_t magic = 0x46544C50;
constexpr std::uint16_t version = 1;
constexpr std::uint16_t flag_flats = 1;

// Where the header's fields are; see frame.hpp.
namespace at {
constexpr std::size_t magic = 0, version = 4, header_bytes = 6, run_id = 8, sequence = 24, scan_id = 32,
                      slice_begin = 40, slice_count = 44, slices_total = 48, angles = 52, columns = 56,
                      dtype = 60, flags = 62, centre = 64, source_time = 72, payload_bytes = 80,
                      checksum = 88, reserved = 96, header_checksum = 120;
}  // namespace at

template <typename T>
void put(std::byte* message, std::size_t offset, const T& value) {
  std::memcpy(message + offset, &value, sizeof value);
}

template <typename T>
T get(const std::byte* message, std::size_t offset) {
  T value;
  std::memcpy(&value, message + offset, sizeof value);
  return value;
}

std::uint64_t hash(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void seal_header(std::byte* message) {
  put(message, at::header_checksum, hash({message, at::header_checksum}));
}

struct Shape {
  std::uint64_t angles, slices, columns, element_bytes;
  bool flats;
};

// The payload's size, or nothing when it does not fit into 64 bits.
std::optional<std::uint64_t> checked_payload_bytes(const Shape& shape) {
  std::uint64_t row = 0, fields = 0, data = 0, theta = shape.angles * 4, sum = 0;
  if (__builtin_mul_overflow(shape.slices, shape.columns, &row) ||
      __builtin_mul_overflow(row, std::uint64_t{8}, &fields) ||
      __builtin_mul_overflow(row, shape.angles, &data) ||
      __builtin_mul_overflow(data, shape.element_bytes, &data) || __builtin_add_overflow(theta, data, &sum) ||
      (shape.flats && __builtin_add_overflow(sum, fields, &sum)))
    return std::nullopt;
  return sum;
}

Shape shape_of(const FrameHeader& header) {
  return {header.angles, header.slice_count, header.columns, size_of(header.dtype), header.has_flats};
}

void put_header(std::byte* message, const FrameHeader& header, std::span<const std::byte> payload) {
  std::fill_n(message, frame_header_bytes, std::byte{0});
  put(message, at::magic, magic);
  put(message, at::version, version);
  put(message, at::header_bytes, static_cast<std::uint16_t>(frame_header_bytes));
  put(message, at::run_id, header.run_id);
  put(message, at::sequence, header.sequence);
  put(message, at::scan_id, header.scan_id);
  put(message, at::slice_begin, header.slice_begin);
  put(message, at::slice_count, header.slice_count);
  put(message, at::slices_total, header.slices_total);
  put(message, at::angles, header.angles);
  put(message, at::columns, header.columns);
  put(message, at::dtype, static_cast<std::uint16_t>(header.dtype));
  put(message, at::flags, header.has_flats ? flag_flats : std::uint16_t{0});
  put(message, at::centre, header.centre);
  put(message, at::source_time, header.source_time_ns);
  put(message, at::payload_bytes, std::uint64_t{payload.size()});
  put(message, at::checksum, hash(payload));
  seal_header(message);
}

FrameHeader get_header(const std::byte* message) {
  FrameHeader header;
  header.run_id = get<std::array<std::uint8_t, 16>>(message, at::run_id);
  header.sequence = get<std::uint64_t>(message, at::sequence);
  header.scan_id = get<std::uint64_t>(message, at::scan_id);
  header.slice_begin = get<std::uint32_t>(message, at::slice_begin);
  header.slice_count = get<std::uint32_t>(message, at::slice_count);
  header.slices_total = get<std::uint32_t>(message, at::slices_total);
  header.angles = get<std::uint32_t>(message, at::angles);
  header.columns = get<std::uint32_t>(message, at::columns);
  header.dtype = static_cast<DataType>(get<std::uint16_t>(message, at::dtype));
  header.has_flats = (get<std::uint16_t>(message, at::flags) & flag_flats) != 0;
  header.centre = get<double>(message, at::centre);
  header.source_time_ns = get<std::uint64_t>(message, at::source_time);
  return header;
}

pilot::Error malformed(std::string what) {
  return pilot::make_error(pilot::ErrorCode::failed, "malformed message: " + std::move(what));
}

// Is this a header of ours, whole and of a version that we read?
pilot::Result<void> check_envelope(std::span<const std::byte> message) {
  if (message.size() < frame_header_bytes)
    return malformed(fmt::format("{} bytes, a header alone has {}", message.size(), frame_header_bytes));
  const std::byte* bytes = message.data();
  if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(float) != 0)
    return malformed("its memory is not aligned to 4 bytes");
  if (get<std::uint32_t>(bytes, at::magic) != magic)
    return malformed(fmt::format("it begins with 0x{:08X}, not with 0x{:08X}",
                                 get<std::uint32_t>(bytes, at::magic), magic));
  if (const auto got = get<std::uint16_t>(bytes, at::version); got != version)
    return malformed(fmt::format("version {}, this program reads version {}", got, version));
  if (const auto got = get<std::uint16_t>(bytes, at::header_bytes); got != frame_header_bytes)
    return malformed(fmt::format("header of {} bytes, version {} has {}", got, version, frame_header_bytes));
  if (get<std::uint64_t>(bytes, at::header_checksum) != hash(message.first(at::header_checksum)))
    return malformed("the header's checksum is wrong");
  return pilot::ok();
}

pilot::Result<void> check_shape(const std::byte* bytes, const FrameHeader& header) {
  if (header.dtype != DataType::u16 && header.dtype != DataType::f32)
    return malformed(
        fmt::format("data type {}, known are 1 (u16) and 2 (f32)", static_cast<std::uint16_t>(header.dtype)));
  if (const auto flags = get<std::uint16_t>(bytes, at::flags); (flags & ~flag_flats) != 0)
    return malformed(fmt::format("unknown flags 0x{:04X}", flags));
  if (header.angles == 0 || header.columns == 0 || header.slice_count == 0)
    return malformed(fmt::format("empty shape: {} slices, {} angles, {} columns", header.slice_count,
                                 header.angles, header.columns));
  const auto slice_end = std::uint64_t{header.slice_begin} + header.slice_count;
  if (slice_end > header.slices_total)
    return malformed(fmt::format("slices {} to {} of a scan of {}", header.slice_begin, slice_end - 1,
                                 header.slices_total));
  return pilot::ok();
}

pilot::Result<void> check_payload(std::span<const std::byte> message, const FrameHeader& header) {
  const auto payload = message.subspan(frame_header_bytes);
  const auto stated = get<std::uint64_t>(message.data(), at::payload_bytes);
  const auto expected = checked_payload_bytes(shape_of(header));
  if (stated != payload.size())
    return malformed(fmt::format("payload of {} bytes, the header says {}", payload.size(), stated));
  if (!expected || *expected != payload.size())
    return malformed(fmt::format("payload of {} bytes, the shape ({} slices, {} angles, {} columns) needs {}",
                                 payload.size(), header.slice_count, header.angles, header.columns,
                                 expected ? std::to_string(*expected) : "more than memory holds"));
  if (get<std::uint64_t>(message.data(), at::checksum) != hash(payload))
    return malformed("the payload's checksum is wrong");
  return pilot::ok();
}

std::span<const float> take_floats(std::span<const std::byte>& rest, std::size_t count) {
  const std::span<const float> floats{reinterpret_cast<const float*>(rest.data()), count};
  rest = rest.subspan(count * sizeof(float));
  return floats;
}

}  // namespace

std::size_t payload_bytes(const FrameHeader& header) {
  const auto bytes = checked_payload_bytes(shape_of(header));
  assert(bytes);
  return *bytes;
}

std::vector<std::byte> encode_frame(const FrameHeader& header, std::span<const float> theta,
                                    std::span<const float> flat, std::span<const float> dark,
                                    std::span<const std::byte> data) {
  [[maybe_unused]] const std::size_t row = std::size_t{header.slice_count} * header.columns;
  assert(theta.size() == header.angles);
  assert(flat.size() == (header.has_flats ? row : 0) && dark.size() == flat.size());
  assert(data.size() == row * header.angles * size_of(header.dtype));

  std::vector<std::byte> message(frame_header_bytes + payload_bytes(header));
  std::byte* out = message.data() + frame_header_bytes;
  for (const auto part : {std::as_bytes(theta), std::as_bytes(flat), std::as_bytes(dark), data})
    out = std::copy(part.begin(), part.end(), out);
  put_header(message.data(), header, std::span(message).subspan(frame_header_bytes));
  return message;
}

void restamp_frame(std::span<std::byte> message, std::uint64_t sequence, std::uint64_t scan_id,
                   std::uint64_t source_time_ns) {
  assert(message.size() >= frame_header_bytes);
  put(message.data(), at::sequence, sequence);
  put(message.data(), at::scan_id, scan_id);
  put(message.data(), at::source_time, source_time_ns);
  seal_header(message.data());
}

pilot::Result<FrameView> decode_frame(std::span<const std::byte> message) {
  PILOT_TRY_VOID(check_envelope(message));
  FrameView view{get_header(message.data()), {}, {}, {}, {}};
  PILOT_TRY_VOID(check_shape(message.data(), view.header));
  PILOT_TRY_VOID(check_payload(message, view.header));

  auto rest = message.subspan(frame_header_bytes);
  view.theta = take_floats(rest, view.header.angles);
  if (view.header.has_flats) {
    const std::size_t row = std::size_t{view.header.slice_count} * view.header.columns;
    view.flat = take_floats(rest, row);
    view.dark = take_floats(rest, row);
  }
  view.data = rest;
  return view;
}

}  // namespace miniapps::formats
