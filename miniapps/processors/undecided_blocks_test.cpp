#include "miniapps/processors/undecided_blocks.hpp"

#include <gtest/gtest.h>

#include "miniapps/processors/test_support.hpp"
#include "pilot/base/test_support.hpp"

namespace miniapps::processors {
namespace {

using namespace std::chrono_literals;
using transports::Message;

const ScanKey first_scan{"run", 3}, second_scan{"run", 4};

struct UndecidedBlocksTest : testing::Test {
  Message message(std::int32_t partition) { return Message(nullptr, bytes, {}, {partition, 0}); }
  void wait(UndecidedBlocks& in, const ScanKey& key, std::uint32_t begin, std::int32_t partition = 0) {
    formats::FrameHeader header;
    header.slice_begin = begin, header.slice_count = 2, header.slices_total = 6;
    in.wait(key, header, message(partition));
  }
  pilot::ManualClock clock;
  std::vector<std::byte> bytes{100};
  UndecidedBlocks blocks{clock, {1000}, 30s};
};

TEST_F(UndecidedBlocksTest, WaitUntilTheAxisIsKnown) {
  EXPECT_FALSE(blocks.best(first_scan, {10, 50}));
  wait(blocks, first_scan, 0), wait(blocks, second_scan, 0);
  EXPECT_TRUE(blocks.take_due().empty());
  EXPECT_EQ(blocks.take(first_scan).size(), 1u);
  EXPECT_TRUE(blocks.take(first_scan).empty());
  EXPECT_EQ(blocks.take(second_scan).size(), 1u);
}

TEST_F(UndecidedBlocksTest, AllOfAScanOrPatienceOrTooManyBytesEndTheWait) {
  for (std::uint32_t begin : {0u, 2u, 2u}) wait(blocks, first_scan, begin);
  EXPECT_TRUE(blocks.take_due().empty()) << "a block that came twice is one";
  wait(blocks, first_scan, 4);
  EXPECT_EQ(blocks.take_due().size(), 4u);

  wait(blocks, second_scan, 0);
  clock.advance(29s);
  EXPECT_TRUE(blocks.take_due().empty());
  clock.advance(1s);
  EXPECT_EQ(blocks.take_due().size(), 1u);

  const ScanKey third{"run", 5};
  for (int i = 0; i < 10; ++i) wait(blocks, third, 0);
  EXPECT_TRUE(blocks.take_due().empty());
  wait(blocks, third, 0);
  EXPECT_EQ(blocks.take_due().size(), 11u);
}

TEST_F(UndecidedBlocksTest, ThenTheLeastDoubtfulAnswerHasToDo) {
  EXPECT_FALSE(blocks.best(first_scan, {10, 50}));
  EXPECT_FALSE(blocks.best(first_scan, {20, 5}));
  EXPECT_FALSE(blocks.best(first_scan, {30, 70}));
  for (std::uint32_t begin : {0u, 2u, 4u}) wait(blocks, first_scan, begin);
  EXPECT_EQ(blocks.take_due().size(), 3u);
  EXPECT_EQ(blocks.best(first_scan, {10, 50}).value().centre, 20);
  EXPECT_EQ(blocks.best(first_scan, {15, 3}).value().centre, 15);
  EXPECT_FALSE(blocks.best(second_scan, {15, 3}));
  blocks.take(first_scan);
  EXPECT_FALSE(blocks.best(first_scan, {10, 50})) << "the scan is forgotten";
}

TEST_F(UndecidedBlocksTest, GivenUpOnesAreNotHandedOutAndNothingWaitsInTheEnd) {
  wait(blocks, first_scan, 0, 1), wait(blocks, first_scan, 2, 2), wait(blocks, second_scan, 0, 1);
  EXPECT_EQ(blocks.take_if([](const Message& m) { return m.position().partition == 1; }).size(), 2u);
  EXPECT_EQ(blocks.close().size(), 1u);
  EXPECT_TRUE(blocks.best(first_scan, {10, 50}));
}

}  // namespace
}  // namespace miniapps::processors
