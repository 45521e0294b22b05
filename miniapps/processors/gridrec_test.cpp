#include "miniapps/processors/gridrec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace miniapps::processors {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t angles = 90, columns = 96;

// A disc of 0.01 per bin around the axis, as transmissions (f32, no flats) or as counts (u16).
std::vector<std::byte> disc(formats::DataType dtype, double centre, std::uint32_t slices,
                            double message_centre, double radius = 30) {
  formats::FrameHeader header;
  header.slice_count = header.slices_total = slices;
  header.angles = angles;
  header.columns = columns;
  header.dtype = dtype;
  header.has_flats = dtype == formats::DataType::u16;
  header.centre = message_centre;
  std::vector<float> theta(angles), values;
  for (std::uint32_t a = 0; a < angles; ++a) theta[a] = 3.14159265f * static_cast<float>(a) / angles;
  for (std::uint32_t i = 0; i < slices * angles; ++i)
    for (std::uint32_t c = 0; c < columns; ++c) {
      const double s = c - centre;
      values.push_back(
          static_cast<float>(std::exp(-0.02 * std::sqrt(std::max(0.0, radius * radius - s * s)))));
    }
  if (dtype == formats::DataType::f32)
    return formats::encode_frame(header, theta, {}, {}, std::as_bytes(std::span(values)));
  std::vector<std::uint16_t> counts;
  for (float v : values) counts.push_back(static_cast<std::uint16_t>(std::lround(100 + 60'000 * v)));
  const std::vector<float> flat(slices * columns, 60'100), dark(slices * columns, 100);
  return formats::encode_frame(header, theta, flat, dark, std::as_bytes(std::span(counts)));
}

std::vector<float> reconstruct(const GridrecParameters& parameters,
                               const std::vector<std::vector<std::byte>>& messages) {
  auto algorithm = make_gridrec(parameters);
  EXPECT_TRUE(algorithm.has_value());
  std::vector<formats::FrameView> frames;
  for (const auto& message : messages) frames.push_back(formats::decode_frame(message).value());
  std::size_t slices = 0;
  for (const auto& frame : frames) slices += frame.header.slice_count;
  std::vector<float> image(slices * columns * columns, -1);
  const auto result = algorithm.value()->make_reconstructor()->run(frames, image);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return image;
}

float middle(const std::vector<float>& image) {
  return image[columns / 2 * columns + columns / 2];
}

TEST(Gridrec, DiscReadsItsValueFromCountsAndFromTransmissions) {
  constexpr double axis = 50;
  for (auto dtype : {formats::DataType::f32, formats::DataType::u16}) {
    const auto image = reconstruct({}, {disc(dtype, axis, 1, axis)});
    ASSERT_EQ(image.size(), columns * columns);
    EXPECT_NEAR(middle(image), 0.01, 0.0003);
    EXPECT_NEAR(image[5 * columns + 48], 0, 0.0005) << "outside the disc";
  }
}

TEST(Gridrec, CentreComesFromOptionMessageOrMiddle) {
  const double unknown = std::nan("");
  const auto right = reconstruct({}, {disc(formats::DataType::f32, 50, 1, 50)});
  EXPECT_EQ(reconstruct({.centre = 50.0}, {disc(formats::DataType::f32, 50, 1, unknown)}), right);
  EXPECT_NE(reconstruct({}, {disc(formats::DataType::f32, 50, 1, unknown)}), right);
  EXPECT_EQ(reconstruct({}, {disc(formats::DataType::f32, 50, 1, unknown)}),
            reconstruct({}, {disc(formats::DataType::f32, 50, 1, 47.5)}));

  formats::FrameHeader header;
  header.columns = columns, header.centre = unknown;
  const auto algorithm = make_gridrec({}).value();
  EXPECT_EQ(algorithm->volume_of(header).centre_source, "middle");
  EXPECT_EQ(algorithm->volume_of(header).centre, 47.5);
  header.centre = 50;
  EXPECT_EQ(algorithm->volume_of(header).centre_source, "message");
  EXPECT_EQ(make_gridrec({.centre = 44.0}).value()->volume_of(header).centre_source, "option");
}

// The condition for "exactly once": company in a call must not change a single bit.
TEST(Gridrec, BlocksTogetherGiveTheSameBitsAsAlone) {
  std::vector<std::vector<std::byte>> messages;
  std::vector<float> alone;
  for (std::uint32_t i = 0; i < 5; ++i) {
    messages.push_back(disc(formats::DataType::u16, 45.0 + i, 1 + i % 3, 45.0 + i, 20.0 + 3 * i));
    const auto image = reconstruct({}, {messages.back()});
    alone.insert(alone.end(), image.begin(), image.end());
  }
  EXPECT_EQ(reconstruct({}, messages), alone);
}

TEST(Gridrec, OptionsOutOfRangeAreRefusedWithAHint) {
  EXPECT_THAT(make_gridrec({.filter = "shep"}).error().text(),
              HasSubstr("there is no filter 'shep'; did you mean 'shepp'?"));
  EXPECT_THAT(make_gridrec({.padding = 0.5}).error().text(), HasSubstr("padding 0.5 is out of range"));
  EXPECT_THAT(make_gridrec({.padding = std::nan("")}).error().text(), HasSubstr("1 to 8"));
  EXPECT_FALSE(make_gridrec({.filter_cutoff = 0.6}).has_value());
  EXPECT_FALSE(make_gridrec({.filter_order = 0}).has_value());
  for (const auto& filter : gridrec_filters()) EXPECT_TRUE(make_gridrec({.filter = filter}).has_value());
}

TEST(Gridrec, ParametersNameAllThatChangesTheResult) {
  const std::vector<GridrecParameters> all = {{},
                                              {.filter = "hann"},
                                              {.filter_cutoff = 0.4},
                                              {.filter_order = 4},
                                              {.padding = 1},
                                              {.centre = 40.0},
                                              {.repeat_edges = true}};
  std::set<std::string> lines;
  for (const auto& parameters : all) lines.insert(make_gridrec(parameters).value()->parameters());
  EXPECT_EQ(lines.size(), all.size());
}

}  // namespace
}  // namespace miniapps::processors
