#include "miniapps/processors/end_watch.hpp"

#include <gtest/gtest.h>

#include "miniapps/processors/volume_store.hpp"
#include "pilot/base/random.hpp"

namespace miniapps::processors {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class EndWatchTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(output_); }
  // Puts one block of two slices of a four-slice scan into the output, as another process would.
  void store_block(const std::string& run, std::uint64_t scan, std::uint32_t begin) {
    const formats::VolumeDescription d{.run_id = run,
                                       .scan_id = scan,
                                       .slices = 4,
                                       .rows = 8,
                                       .columns = 8,
                                       .angles = 3,
                                       .algorithm = "x",
                                       .filter = "x",
                                       .padding = 1,
                                       .centre = 0,
                                       .centre_source = "message",
                                       .parameters = "x"};
    auto store = VolumeStore::open({.folder = output_, .picture = {}, .hook = {}}).value();
    const SliceRange block{begin, 2};
    auto volume = store->place(d, block).value().volume;
    ASSERT_TRUE(volume->write(block, std::vector<float>(128, 1)).has_value());
    ASSERT_TRUE(store->commit(*volume, std::vector{block}).has_value());
  }
  const std::string run_a_ = std::string(32, 'a'), run_b_ = std::string(32, 'b');
  fs::path output_ = fs::path(testing::TempDir()) / ("census-" + pilot::random_hex(6));
  pilot::ManualClock clock_;
};

TEST_F(EndWatchTest, CountIsOfTheOutputFolderAndTheRunsSeen) {
  EndWatch watch({.count = 4, .until_idle = {}, .duration = {}}, output_, clock_);
  ProcessReport report;
  report.runs = {run_a_};
  EXPECT_EQ(watch.ended(report), std::nullopt) << "no folder yet";
  for (auto [scan, begin] : {std::pair{0u, 0u}, {0u, 2u}, {1u, 2u}}) store_block(run_a_, scan, begin);
  store_block(run_b_, 0, 0);
  EXPECT_EQ(watch.counted(report), 3u) << "a complete scan and half of one";
  clock_.advance(1s);
  EXPECT_EQ(watch.ended(report), std::nullopt);
  report.dead_letters = 1;
  EXPECT_EQ(watch.ended(report), std::nullopt) << "looks at the disk only now and then";
  clock_.advance(1s);
  EXPECT_EQ(watch.ended(report), "count");
  report.dead_letters = 0, report.runs.insert(run_b_);
  EXPECT_EQ(watch.counted(report), 4u);
}

TEST_F(EndWatchTest, AProcessorThatComesWhenAllIsDoneCountsWhatIsThere) {
  store_block(run_a_, 0, 0), store_block(run_a_, 0, 2), store_block(run_b_, 0, 2);
  EndWatch watch({.count = 3, .until_idle = {}, .duration = {}}, output_, clock_);
  ProcessReport report;
  report.idle_s = 4;
  EXPECT_EQ(watch.ended(report), std::nullopt) << "a new group that waits for its first message";
  report.resumed_at_end = true;
  report.idle_s = 1;
  clock_.advance(1s);
  EXPECT_EQ(watch.ended(report), std::nullopt) << "more may come: a killed member's";
  report.idle_s = 4;
  clock_.advance(1s);
  EXPECT_EQ(watch.ended(report), "count");
  EXPECT_EQ(watch.scans(report).size(), 2u);
  report.runs = {run_b_};
  EXPECT_EQ(watch.counted(report), 1u) << "it has seen a run after all";
}

TEST_F(EndWatchTest, ScansAreListedWithWhatIsMissing) {
  store_block(run_a_, 10, 0), store_block(run_a_, 10, 2), store_block(run_a_, 2, 2);
  OutputCensus census(output_);
  const auto scans = census.scans({run_a_});
  ASSERT_EQ(scans.size(), 2u);
  EXPECT_EQ(scans[0].scan_id, 2u);
  EXPECT_FALSE(scans[0].complete());
  EXPECT_EQ(scans[0].slices_present, 2u);
  EXPECT_EQ(scans[0].file, ".blocks/" + run_a_ + "-2.h5");
  EXPECT_TRUE(scans[1].complete());
  EXPECT_EQ(scans[1].file, "scan-aaaaaaaa-10.h5");
  EXPECT_EQ(scans[1].picture, "scan-aaaaaaaa-10-slice-2.png");
  EXPECT_TRUE(census.scans({run_b_}).empty());
  store_block(run_a_, 2, 0);
  EXPECT_TRUE(census.scans({run_a_})[0].complete());
}

TEST_F(EndWatchTest, IdleAndDuration) {
  EndWatch watch({.count = {}, .until_idle = 5s, .duration = 60s}, output_, clock_);
  ProcessReport report;
  report.idle_s = 4.9;
  EXPECT_EQ(watch.ended(report), std::nullopt);
  report.idle_s = 5;
  EXPECT_EQ(watch.ended(report), "idle");
  report.idle_s = 0;
  clock_.advance(60s);
  EXPECT_EQ(watch.ended(report), "duration");
}

}  // namespace
}  // namespace miniapps::processors
