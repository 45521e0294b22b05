#include "miniapps/sources/scan_frames.hpp"

#include <gmock/gmock.h>

#include "miniapps/formats/frame.hpp"

namespace miniapps::sources {
namespace {

PhantomOptions small_phantom(int slices) {
  PhantomOptions options;
  options.scan.columns = 32;
  options.scan.angles = 9;
  options.scan.slices = slices;
  options.flat_frames = 2;
  options.dark_frames = 2;
  return options;
}

RunId run_of(std::uint8_t value) {
  RunId run{};
  run.fill(value);
  return run;
}

ScanFrames frames_of(int slices, std::uint32_t per_message, std::uint64_t memory) {
  return {make_phantom_scan(small_phantom(slices)), per_message, pilot::Bytes{memory}, run_of(3)};
}

TEST(ScanFrames, CoverEverySliceOnceAndAreWholeMessages) {
  auto frames = frames_of(7, 2, 1 << 20);
  EXPECT_EQ(frames.blocks(), 4U);
  ASSERT_TRUE(frames.prepare({}));
  std::vector<int> seen(7, 0);
  for (std::uint32_t block = 0; block < frames.blocks(); ++block) {
    const auto message = frames.take(block, 100 + block, 5, 77).value();
    EXPECT_LE(message->size(), frames.message_bytes());
    const auto view = formats::decode_frame(*message);
    ASSERT_TRUE(view) << view.error().message;
    const auto& header = view.value().header;
    EXPECT_EQ(header.run_id, run_of(3));
    EXPECT_EQ(header.sequence, 100 + block);
    EXPECT_EQ(header.scan_id, 5U);
    EXPECT_EQ(header.source_time_ns, 77U);
    EXPECT_EQ(header.slices_total, 7U);
    EXPECT_EQ(header.slice_begin, frames.first_slice(block));
    for (auto s = header.slice_begin; s < header.slice_begin + header.slice_count; ++s) ++seen[s];
  }
  EXPECT_THAT(seen, testing::Each(1));
}

TEST(ScanFrames, CarryWhatTheSourceMakes) {
  const auto source = make_phantom_scan(small_phantom(4));
  auto frames = frames_of(4, 2, 1 << 20);
  const auto message = frames.take(1, 0, 0, 0).value();
  const auto view = formats::decode_frame(*message).value();
  const auto block = source->read(2, 2).value();
  EXPECT_TRUE(std::ranges::equal(view.data, block.data));
  EXPECT_TRUE(std::ranges::equal(view.flat, block.flat));
  EXPECT_TRUE(std::ranges::equal(view.dark, block.dark));
  EXPECT_TRUE(std::ranges::equal(view.theta, source->description().theta));
  EXPECT_EQ(view.header.centre, source->description().centre);
}

TEST(ScanFrames, DoNotTouchAMessageThatIsBeingSent) {
  auto frames = frames_of(2, 2, 1 << 20);
  const auto first = frames.take(0, 1, 0, 0).value();
  const transports::Buffer before = *first;
  const auto second = frames.take(0, 2, 1, 9).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(*first, before);
  EXPECT_EQ(formats::decode_frame(*second).value().header.sequence, 2U);
}

TEST(ScanFrames, UseTheSameMemoryAgainOnceItIsFree) {
  auto frames = frames_of(2, 2, 1 << 20);
  const void* place = frames.take(0, 1, 0, 0).value()->data();
  EXPECT_EQ(frames.take(0, 2, 1, 0).value()->data(), place);
}

TEST(ScanFrames, OfAScanLargerThanMemoryAreReadAgain) {
  auto whole = frames_of(10, 1, 1 << 20);
  auto windowed = frames_of(10, 1, 3000);
  EXPECT_TRUE(whole.fits_in_memory());
  EXPECT_FALSE(windowed.fits_in_memory());
  ASSERT_TRUE(windowed.prepare({}));
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t block = 0; block < 10; ++block)
      EXPECT_EQ(*windowed.take(block, block, 0, 0).value(), *whole.take(block, block, 0, 0).value());
}

TEST(ScanFrames, PreparationTellsAndCanBeEnded) {
  auto frames = frames_of(10, 1, 1 << 20);
  std::vector<std::uint32_t> told;
  ASSERT_TRUE(frames.prepare([&](std::uint32_t done) {
    told.push_back(done);
    return true;
  }));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 10U);
}

TEST(PhantomScan, IsTheSameForAnyNumberOfThreads) {
  auto options = small_phantom(5);
  options.threads = 1;
  const auto one = make_phantom_scan(options)->read(0, 5).value();
  options.threads = 4;
  const auto scan = make_phantom_scan(options);
  EXPECT_EQ(scan->read(0, 5).value().data, one.data);
  EXPECT_TRUE(std::ranges::equal(scan->read(3, 1).value().data,
                                 std::span(one.data).subspan(one.data.size() / 5 * 3, one.data.size() / 5)));
  options.scan.seed = 2;
  EXPECT_NE(make_phantom_scan(options)->read(0, 5).value().data, one.data);
}

TEST(PhantomScan, IsTheSameFromItsFile) {
  const auto path =
      std::filesystem::temp_directory_path() / ("phantom_scan_test." + std::to_string(getpid()));
  const auto options = small_phantom(3);
  ASSERT_TRUE(write_phantom_scan(path, options, {}));
  std::vector<std::string> notes;
  const auto file = open_scan_file(path, {}, notes);
  ASSERT_TRUE(file) << file.error().text();
  const auto scan = make_phantom_scan(options);
  EXPECT_THAT(notes, testing::IsEmpty());
  EXPECT_EQ(file.value()->description().shape, scan->description().shape);
  EXPECT_EQ(file.value()->description().centre, scan->description().centre);
  const auto a = file.value()->read(0, 3).value(), b = scan->read(0, 3).value();
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.flat, b.flat);
  EXPECT_EQ(a.dark, b.dark);
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(file.value()->description().theta[i], scan->description().theta[i], 1e-6);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace miniapps::sources
