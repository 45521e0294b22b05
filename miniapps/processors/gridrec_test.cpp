#include "miniapps/processors/gridrec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "miniapps/generators/scan.hpp"

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
  std::vector<double> centres;
  for (const auto& message : messages) {
    frames.push_back(formats::decode_frame(message).value());
    centres.push_back(algorithm.value()->volume_of(frames.back().header).centre);
  }
  std::size_t slices = 0;
  for (const auto& frame : frames) slices += frame.header.slice_count;
  std::vector<float> image(slices * columns * columns, -1);
  const auto result = algorithm.value()->make_reconstructor()->run(frames, centres, image);
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

TEST(Gridrec, CentreComesFromOptionOrMessageOrHasToBeFound) {
  const double unknown = std::nan("");
  const auto right = reconstruct({}, {disc(formats::DataType::f32, 50, 1, 50)});
  EXPECT_EQ(reconstruct({.centre = 50.0}, {disc(formats::DataType::f32, 50, 1, unknown)}), right);
  EXPECT_NE(reconstruct({}, {disc(formats::DataType::f32, 50, 1, 47.5)}), right);

  formats::FrameHeader header;
  header.columns = columns, header.centre = unknown;
  EXPECT_TRUE(std::isnan(make_gridrec({}).value()->volume_of(header).centre));
  header.centre = 50;
  EXPECT_EQ(make_gridrec({}).value()->volume_of(header).centre, 50);
  EXPECT_EQ(make_gridrec({}).value()->volume_of(header).centre_source, "message");
  EXPECT_TRUE(std::isnan(make_gridrec({.find_centre = true}).value()->volume_of(header).centre));
  EXPECT_EQ(make_gridrec({.centre = 44.0}).value()->volume_of(header).centre_source, "option");
}

CentreAnswer find_centre(const std::vector<std::byte>& message) {
  auto algorithm = make_gridrec({}).value();
  return algorithm->make_reconstructor()->find_centre(formats::decode_frame(message).value()).value();
}

TEST(Gridrec, FindsTheCentreOfABlock) {
  for (std::uint32_t slices : {1u, 3u}) {
    const auto answer = find_centre(disc(formats::DataType::u16, 52.3, slices, 47.5));
    EXPECT_TRUE(answer.sure());
    EXPECT_NEAR(answer.centre, 52.3, 0.1);
  }
}

// Raw counts of a scan's slices.
std::vector<std::byte> block_of(const generators::Scan& scan, std::uint32_t begin, std::uint32_t count) {
  const auto& spec = scan.spec();
  formats::FrameHeader header;
  header.slice_begin = begin, header.slice_count = count, header.slices_total = spec.slices;
  header.angles = spec.angles, header.columns = spec.columns;
  header.has_flats = true;
  header.centre = std::nan("");
  const std::size_t row = spec.columns, slice = row * spec.angles;
  const std::vector<float> theta(scan.theta().begin(), scan.theta().end());
  std::vector<float> flat(count * row), dark(count * row);
  std::vector<std::uint16_t> raw(count * slice);
  for (std::uint32_t s = 0; s < count; ++s) {
    const int number = static_cast<int>(begin + s);
    scan.raw_slice(number, 0, 0, std::span(raw).subspan(s * slice, slice));
    scan.mean_flat(number, 10, std::span(flat).subspan(s * row, row));
    scan.mean_dark(number, 10, std::span(dark).subspan(s * row, row));
  }
  return formats::encode_frame(header, theta, flat, dark, std::as_bytes(std::span(raw)));
}

TEST(Gridrec, IsNotSureOfTheCentreOfAir) {
  int sure = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const generators::Scan air(
        {.columns = 256, .angles = 180, .slices = 2, .min_transmission = 1 - 1e-9, .seed = seed});
    sure += find_centre(block_of(air, 0, 2)).sure();
    const generators::Scan head({.columns = 256, .angles = 180, .slices = 2, .centre = 140.2, .seed = seed});
    const auto answer = find_centre(block_of(head, 0, 2));
    EXPECT_TRUE(answer.sure());
    EXPECT_NEAR(answer.centre, 140.2, 0.1);
  }
  EXPECT_LE(sure, 1) << "two answers from noise are rarely alike";
}

TEST(Gridrec, CleansWhatItIsToldTo) {
  const generators::ScanSpec clean{
      .columns = 128, .angles = 120, .slices = 1, .phantom = generators::PhantomKind::disc};
  auto spec = clean;
  spec.zingers = 0.002;
  const auto picture = [](const GridrecParameters& p, const generators::ScanSpec& of) {
    auto algorithm = make_gridrec(p).value();
    const auto message = block_of(generators::Scan(of), 0, 1);
    const std::vector frames{formats::decode_frame(message).value()};
    std::vector<float> image(128 * 128);
    EXPECT_TRUE(algorithm->make_reconstructor()->run(frames, std::vector{63.5}, image).has_value());
    return image;
  };
  const auto error = [&](const std::vector<float>& image, const std::vector<float>& truth) {
    double sum = 0;
    for (std::size_t i = 0; i < image.size(); ++i) sum += std::pow(image[i] - truth[i], 2);
    return std::sqrt(sum / static_cast<double>(image.size()));
  };
  const auto truth = picture({}, clean);
  EXPECT_LT(5 * error(picture({.cleaning = {.zingers = 5000.0f}}, spec), truth),
            error(picture({}, spec), truth));

  const auto rings = picture({.cleaning = {.rings = 21}}, clean);
  EXPECT_NE(rings, truth);
  const auto circle = picture({.circle = 0.5}, clean);
  EXPECT_EQ(circle[0], 0);
  EXPECT_EQ(circle[64 * 128 + 20], 0);
  EXPECT_EQ(circle[64 * 128 + 64], truth[64 * 128 + 64]);
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
  EXPECT_THAT(make_gridrec({.cleaning = {.rings = 20}}).error().text(), HasSubstr("odd, 3 to 999"));
  EXPECT_THAT(make_gridrec({.cleaning = {.zingers = 0.0f}}).error().text(), HasSubstr("above 0"));
  EXPECT_THAT(make_gridrec({.circle = 0}).error().text(), HasSubstr("the circle 0 is out of range"));
  for (const auto& filter : gridrec_filters()) EXPECT_TRUE(make_gridrec({.filter = filter}).has_value());
}

TEST(Gridrec, ParametersNameAllThatChangesTheResult) {
  const std::vector<GridrecParameters> all = {{},
                                              {.filter = "hann"},
                                              {.filter_cutoff = 0.4},
                                              {.filter_order = 4},
                                              {.padding = 1},
                                              {.centre = 40.0},
                                              {.find_centre = true},
                                              {.repeat_edges = true},
                                              {.cleaning = {.zingers = 100.0f}},
                                              {.cleaning = {.rings = 21}},
                                              {.circle = 0.9}};
  std::set<std::string> lines;
  for (const auto& parameters : all) lines.insert(make_gridrec(parameters).value()->parameters());
  EXPECT_EQ(lines.size(), all.size());
}

}  // namespace
}  // namespace miniapps::processors
