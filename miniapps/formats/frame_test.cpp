#include "miniapps/formats/frame.hpp"

#include <gmock/gmock.h>
#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace miniapps::formats {
namespace {

using testing::HasSubstr;

FrameHeader small_header() {
  FrameHeader header;
  std::iota(header.run_id.begin(), header.run_id.end(), std::uint8_t{1});
  header.sequence = 7;
  header.scan_id = 3;
  header.slice_begin = 4;
  header.slice_count = 2;
  header.slices_total = 6;
  header.angles = 5;
  header.columns = 3;
  header.has_flats = true;
  header.centre = 1.25;
  header.source_time_ns = 1'700'000'000'000'000'123;
  return header;
}

struct Parts {
  std::vector<float> theta, flat, dark;
  std::vector<std::byte> data;
};

Parts parts_for(const FrameHeader& header) {
  const std::size_t row = std::size_t{header.slice_count} * header.columns;
  Parts parts;
  parts.theta.resize(header.angles);
  std::iota(parts.theta.begin(), parts.theta.end(), 0.5F);
  if (header.has_flats) {
    parts.flat.resize(row);
    parts.dark.resize(row);
    std::iota(parts.flat.begin(), parts.flat.end(), 100.0F);
    std::iota(parts.dark.begin(), parts.dark.end(), 1.0F);
  }
  parts.data.resize(row * header.angles * size_of(header.dtype));
  for (std::size_t i = 0; i < parts.data.size(); ++i) parts.data[i] = static_cast<std::byte>(i * 7);
  return parts;
}

std::vector<std::byte> encode(const FrameHeader& header) {
  const Parts parts = parts_for(header);
  return encode_frame(header, parts.theta, parts.flat, parts.dark, parts.data);
}

template <typename T>
void poke(std::vector<std::byte>& message, std::size_t offset, T value) {
  std::memcpy(message.data() + offset, &value, sizeof value);
}

// Makes the checksums right again, so that the checks behind them are reached.
void seal(std::vector<std::byte>& message) {
  poke(message, 88, XXH3_64bits(message.data() + 128, message.size() - 128));
  poke(message, 120, XXH3_64bits(message.data(), 120));
}

std::string why_refused(std::span<const std::byte> message) {
  const auto view = decode_frame(message);
  return view ? "accepted" : view.error().message;
}

TEST(Frame, ComesBackAsItWas) {
  for (const auto dtype : {DataType::u16, DataType::f32}) {
    for (const bool flats : {true, false}) {
      FrameHeader header = small_header();
      header.dtype = dtype;
      header.has_flats = flats;
      const Parts parts = parts_for(header);
      const auto message = encode_frame(header, parts.theta, parts.flat, parts.dark, parts.data);
      EXPECT_EQ(message.size(), frame_header_bytes + payload_bytes(header));
      const auto view = decode_frame(message);
      ASSERT_TRUE(view) << view.error().message;
      EXPECT_EQ(view.value().header, header);
      EXPECT_TRUE(std::ranges::equal(view.value().theta, parts.theta));
      EXPECT_TRUE(std::ranges::equal(view.value().flat, parts.flat));
      EXPECT_TRUE(std::ranges::equal(view.value().dark, parts.dark));
      EXPECT_TRUE(std::ranges::equal(view.value().data, parts.data));
    }
  }
}

TEST(Frame, UnknownCentreStaysUnknown) {
  FrameHeader header = small_header();
  header.centre = std::numeric_limits<double>::quiet_NaN();
  const auto message = encode(header);
  EXPECT_TRUE(std::isnan(decode_frame(message).value().header.centre));
}

// The layout is a promise to other languages: these are bytes, not a round trip.
TEST(Frame, LayoutIsTheDocumentedOne) {
  const auto message = encode(small_header());
  const auto u8 = [&](std::size_t at) { return std::to_integer<int>(message[at]); };
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(message.data()), 4), "PLTF");
  EXPECT_EQ(u8(4), 1);
  EXPECT_EQ(u8(6), 128);
  EXPECT_EQ(u8(8), 1);
  EXPECT_EQ(u8(23), 16);
  EXPECT_EQ(u8(24), 7);
  EXPECT_EQ(u8(32), 3);
  EXPECT_EQ(u8(40), 4);
  EXPECT_EQ(u8(44), 2);
  EXPECT_EQ(u8(48), 6);
  EXPECT_EQ(u8(52), 5);
  EXPECT_EQ(u8(56), 3);
  EXPECT_EQ(u8(60), 1);
  EXPECT_EQ(u8(62), 1);
  EXPECT_EQ(u8(80), 5 * 4 + 2 * 2 * 3 * 4 + 2 * 5 * 3 * 2);
  for (std::size_t at = 96; at < 120; ++at) EXPECT_EQ(u8(at), 0);
  float theta1 = 0;
  std::memcpy(&theta1, message.data() + 128 + 4, 4);
  EXPECT_EQ(theta1, 1.5F);
}

TEST(Frame, RestampChangesOnlyWhatItSays) {
  auto message = encode(small_header());
  restamp_frame(message, 99, 12, 34);
  FrameHeader expected = small_header();
  expected.sequence = 99;
  expected.scan_id = 12;
  expected.source_time_ns = 34;
  EXPECT_EQ(decode_frame(message).value().header, expected);
}

TEST(Frame, RefusesAndSaysWhy) {
  const auto good = encode(small_header());
  const auto with = [&](auto change) {
    auto message = good;
    change(message);
    return message;
  };
  const auto sealed = [&](std::size_t at, auto value) {
    auto message = good;
    poke(message, at, value);
    seal(message);
    return message;
  };
  EXPECT_THAT(why_refused({}), HasSubstr("0 bytes, a header alone has 128"));
  EXPECT_THAT(why_refused(std::span(good).first(127)), HasSubstr("127 bytes"));
  EXPECT_THAT(why_refused(sealed(0, std::uint32_t{0})), HasSubstr("0x00000000"));
  EXPECT_THAT(why_refused(sealed(4, std::uint16_t{2})), HasSubstr("version 2, this program reads version 1"));
  EXPECT_THAT(why_refused(sealed(6, std::uint16_t{64})), HasSubstr("header of 64 bytes"));
  EXPECT_THAT(why_refused(with([](auto& m) { m[24] ^= std::byte{1}; })), HasSubstr("header's checksum"));
  EXPECT_THAT(why_refused(with([](auto& m) { m.back() ^= std::byte{1}; })), HasSubstr("payload's checksum"));
  EXPECT_THAT(why_refused(sealed(60, std::uint16_t{3})), HasSubstr("data type 3"));
  EXPECT_THAT(why_refused(sealed(62, std::uint16_t{3})), HasSubstr("unknown flags"));
  EXPECT_THAT(why_refused(sealed(52, std::uint32_t{0})), HasSubstr("empty shape"));
  EXPECT_THAT(why_refused(sealed(40, std::uint32_t{5})), HasSubstr("slices 5 to 6 of a scan of 6"));
  EXPECT_THAT(why_refused(sealed(40, std::uint32_t{0xFFFFFFFF})), HasSubstr("of a scan of 6"));
  EXPECT_THAT(why_refused(sealed(56, std::uint32_t{4})), HasSubstr("4 columns) needs"));
  EXPECT_THAT(why_refused(sealed(80, std::uint64_t{1})), HasSubstr("the header says 1"));
  EXPECT_THAT(why_refused(std::span(good).first(good.size() - 1)), HasSubstr("payload of 127 bytes"));
}

TEST(Frame, RefusesAShapeThatOverflows) {
  auto message = encode(small_header());
  poke(message, 44, std::uint32_t{0xFFFFFFFF});
  poke(message, 48, std::uint32_t{0xFFFFFFFF});
  poke(message, 52, std::uint32_t{0xFFFFFFFF});
  poke(message, 56, std::uint32_t{0xFFFFFFFF});
  poke(message, 40, std::uint32_t{0});
  seal(message);
  EXPECT_THAT(why_refused(message), HasSubstr("more than memory holds"));
}

TEST(Frame, RefusesMisalignedMemory) {
  const auto good = encode(small_header());
  std::vector<std::byte> shifted(good.size() + 1);
  std::ranges::copy(good, shifted.begin() + 1);
  EXPECT_THAT(why_refused(std::span(shifted).subspan(1)), HasSubstr("not aligned"));
}

// Random damage: never a crash (the sanitizers watch), and what is accepted is consistent.
TEST(Frame, SurvivesDamage) {
  std::mt19937_64 random(20261129);
  const auto good = encode(small_header());
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto message = good;
    for (auto hits = 1 + random() % 4; hits > 0; --hits)
      message[random() % (round % 2 ? frame_header_bytes : message.size())] =
          static_cast<std::byte>(random());
    if (round % 5 == 0) message.resize(random() % (message.size() + 1));
    if (round % 3 != 0 && message.size() >= frame_header_bytes) seal(message);
    const auto view = decode_frame(message);
    if (!view) continue;
    ++accepted;
    EXPECT_EQ(payload_bytes(view.value().header), message.size() - frame_header_bytes);
    EXPECT_EQ(view.value().theta.size(), view.value().header.angles);
  }
  EXPECT_GT(accepted, 100) << "the damage never reached beyond the checksums";
}

}  // namespace
}  // namespace miniapps::formats
