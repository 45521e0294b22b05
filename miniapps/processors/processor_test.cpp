#include "miniapps/processors/processor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "miniapps/processors/output_census.hpp"
#include "miniapps/processors/test_support.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/test_support.hpp"

namespace miniapps::processors {
namespace {

namespace fs = std::filesystem;
using namespace test_support;
using testing::HasSubstr;

const std::string run_id = "07070707070707070707070707070707";

class ProcessorTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  std::unique_ptr<Processor> processor(const std::string& output, int parallelism = 2) {
    ProcessorOptions options;
    options.algorithm = algorithm_;
    options.store = {.folder = root_ / output, .picture = {}, .hook = hook_};
    options.topic = "frames";
    options.group = "test";
    options.parallelism = parallelism;
    auto opened = Processor::open(options);
    EXPECT_TRUE(opened.has_value()) << opened.error().text();
    return std::move(opened).value();
  }
  // Runs a processor until `count` messages are acknowledged.
  ProcessReport run(const std::string& output, std::shared_ptr<Log> log, std::size_t count,
                    int parallelism = 2) {
    auto p = processor(output, parallelism);
    p->start(std::make_unique<MemoryConsumer>(log));
    EXPECT_TRUE(log->wait_acknowledged(count));
    p->request_stop();
    EXPECT_TRUE(p->join().has_value());
    EXPECT_TRUE(log->closed);
    return p->report();
  }
  std::map<std::string, std::string> content(const std::string& output) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / output))
      if (entry.is_regular_file())
        files[fs::relative(entry.path(), root_ / output)] = pilot::read_file(entry.path()).value();
    return files;
  }
  fs::path root_ = fs::path(testing::TempDir()) / ("processor-" + pilot::random_hex(6));
  StepHook hook_;
  std::shared_ptr<CopyAlgorithm> algorithm_ = std::make_shared<CopyAlgorithm>();
};

std::shared_ptr<Log> log_of(int messages, int partitions = 1) {
  auto log = std::make_shared<Log>();
  for (int i = 0; i < messages; ++i)
    log->partitions[i % partitions].push_back(frame(static_cast<std::uint64_t>(i)));
  return log;
}

TEST_F(ProcessorTest, AllBlocksAreInTheOutputAndAcknowledged) {
  const auto report = run("out", log_of(40, 3), 40);
  EXPECT_EQ(report.messages, 40u);
  EXPECT_EQ(report.stored, 40u);
  EXPECT_EQ(report.duplicates, 0u);
  EXPECT_EQ(report.bytes, 40 * frame(0).size());
  EXPECT_EQ(report.result_bytes, 40u * 2 * 16 * 16 * 4);
  EXPECT_EQ(report.latency.count(), 40u);
  EXPECT_EQ(report.in_flight, 0u);
  EXPECT_EQ(report.workers.at(0).messages + report.workers.at(1).messages, 40u);
  EXPECT_GT(report.busy_s(), 0);
  EXPECT_EQ(report.runs, std::set{run_id});
  const auto scans = OutputCensus(root_ / "out").scans({run_id});
  ASSERT_EQ(scans.size(), 10u);
  for (const auto& scan : scans) {
    EXPECT_TRUE(scan.complete());
    EXPECT_EQ(scan.blocks, 4u);
    EXPECT_EQ(scan.picture, "scan-07070707-" + std::to_string(scan.scan_id) + "-slice-4.png");
  }
}

std::ptrdiff_t open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), {});
}

// Each message of another scan, faster than the disk finishes them.
TEST_F(ProcessorTest, FewFilesAreOpenAtATimeAndNoneAtTheEnd) {
  auto log = std::make_shared<Log>();
  for (std::uint64_t i = 0; i < 160; ++i) log->partitions[0].push_back(frame(i, {.slices_total = 2}));
  const auto before = open_files();
  std::atomic<std::ptrdiff_t> most{0};
  hook_ = [&](std::string_view) { most = std::max(most.load(), open_files()); };
  EXPECT_EQ(run("out", log, 160).stored, 160u);
  EXPECT_LT(most, before + 210) << "two for each of two groups of 32 and of 32 kept open, and a few";
  EXPECT_EQ(open_files(), before);
}

TEST_F(ProcessorTest, ThreadsAndOrderDoNotChangeTheOutput) {
  run("one", log_of(24), 24, 1);
  run("four", log_of(24, 5), 24, 4);
  EXPECT_EQ(content("one"), content("four"));
}

// The axis of scan 0 is seen in block 2 only, that of scan 1 in none.
void show_axis(CopyAlgorithm& algorithm) {
  algorithm.find_centre = [](const formats::FrameHeader& h) -> CentreAnswer {
    if (h.scan_id == 0 && h.slice_begin == 4) return {9.25, 0.1};
    return {2.0 + h.slice_begin, 100.0 - h.slice_begin};
  };
}

TEST_F(ProcessorTest, TheFirstBlockThatShowsTheAxisDecidesForAllOfTheScan) {
  show_axis(*algorithm_);
  for (int parallelism : {1, 3}) {
    const auto name = "out" + std::to_string(parallelism);
    const auto report = run(name, log_of(4), 4, parallelism);
    EXPECT_EQ(report.stored, 4u);
    const auto volume = formats::read_volume_layout(root_ / name / "scan-07070707-0.h5").value();
    EXPECT_EQ(volume.description.centre, 9.25);
    EXPECT_EQ(volume.description.centre_source, "found");
  }
  EXPECT_EQ(content("out1"), content("out3"));
}

TEST_F(ProcessorTest, WhereNoBlockShowsTheAxisTheBestAnswerHasToDoWhenAllAreHere) {
  show_axis(*algorithm_);
  EXPECT_EQ(run("out", log_of(8), 8).stored, 8u);
  const auto volume = formats::read_volume_layout(root_ / "out" / "scan-07070707-1.h5").value();
  EXPECT_EQ(volume.description.centre, 8) << "of the block with the least doubt";
}

TEST_F(ProcessorTest, BlocksThatWaitForTheAxisAreDoneAtTheEnd) {
  show_axis(*algorithm_);
  auto log = log_of(2);
  auto p = processor("out");
  p->start(std::make_unique<MemoryConsumer>(log));
  ASSERT_TRUE(pilot::test::eventually([&] { return p->report().in_flight == 2; }));
  EXPECT_TRUE(log->acknowledged.empty());
  p->request_stop();
  EXPECT_TRUE(p->join().has_value());
  EXPECT_EQ(p->report().stored, 2u);
  EXPECT_EQ(log->acknowledged.size(), 2u);
}

TEST_F(ProcessorTest, TheAxisOfAScanIsRememberedByItsVolume) {
  show_axis(*algorithm_);
  auto first = std::make_shared<Log>();
  first->partitions[0] = {frame(2)};
  run("out", first, 1);
  std::atomic<int> asked{0};
  algorithm_->find_centre = [&](const formats::FrameHeader&) { return ++asked, CentreAnswer{1, 0}; };
  run("out", log_of(4), 4);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(formats::read_volume_layout(root_ / "out" / "scan-07070707-0.h5").value().description.centre,
            9.25);
}

TEST_F(ProcessorTest, WaitingBlocksOfRevokedPartitionsAreGivenUp) {
  show_axis(*algorithm_);
  auto log = log_of(2, 2);
  auto p = processor("out");
  p->start(std::make_unique<MemoryConsumer>(log));
  ASSERT_TRUE(pilot::test::eventually([&] { return p->report().in_flight == 2; }));
  p->revoked({0});
  EXPECT_EQ(p->report().in_flight, 1u);
  p->request_stop();
  EXPECT_TRUE(p->join().has_value());
  EXPECT_EQ(log->acknowledged, std::set({transports::Position{1, 0}}));
}

TEST_F(ProcessorTest, RedeliveredMessagesChangeNothing) {
  run("out", log_of(16), 16);
  const auto before = content("out");
  const auto again = run("out", log_of(20), 20);
  EXPECT_EQ(again.duplicates, 16u);
  EXPECT_EQ(again.stored, 4u);
  EXPECT_EQ(again.latency.count(), 4u) << "repeats are no measure of latency";
  auto after = content("out");
  std::erase_if(after, [&](const auto& file) { return !before.contains(file.first); });
  EXPECT_EQ(after, before);
}

TEST_F(ProcessorTest, SameBlockTwiceAtTheSameTimeIsStoredOnce) {
  auto log = std::make_shared<Log>();
  for (int i = 0; i < 32; ++i) log->partitions[0].push_back(frame(static_cast<std::uint64_t>(i / 8)));
  const auto report = run("out", log, 32, 4);
  EXPECT_EQ(report.stored, 4u);
  EXPECT_EQ(report.duplicates, 28u);
}

TEST_F(ProcessorTest, MalformedMessagesAreKeptAsideAndTheRestGoesOn) {
  auto log = log_of(8);
  auto& messages = log->partitions[0];
  messages[1] = std::vector<std::byte>(300, std::byte{1});
  messages[2][200] ^= std::byte{1};
  messages[3].resize(100);
  messages[5].clear();
  const auto report = run("out", log, 8);
  EXPECT_EQ(report.dead_letters, 4u);
  EXPECT_EQ(report.stored, 4u);
  EXPECT_EQ(report.messages, 8u);
  for (int offset : {1, 2, 3, 5}) {
    const auto stem = root_ / "out" / "dead-letters" / ("frames-0-" + std::to_string(offset));
    const auto bytes = pilot::read_file(stem.string() + ".bin").value();
    EXPECT_EQ(bytes.size(), messages[static_cast<std::size_t>(offset)].size());
    EXPECT_THAT(pilot::read_file(stem.string() + ".json").value(), HasSubstr("\"reason\":\""));
  }
}

TEST_F(ProcessorTest, BlocksThatDoNotFitTheirScanOrTheKernelAreKeptAside) {
  auto log = log_of(4);
  log->partitions[0].push_back(frame(2, {.columns = 18}));
  algorithm_->before = [](const formats::FrameHeader& h) -> pilot::Result<void> {
    if (h.sequence == 3) return pilot::make_error(pilot::ErrorCode::usage, "angles are all the same");
    return pilot::ok();
  };
  const auto report = run("out", log, 5, 1);
  EXPECT_EQ(report.dead_letters, 2u);
  EXPECT_THAT(pilot::read_file(root_ / "out/dead-letters/frames-0-3.json").value(),
              HasSubstr("angles are all the same"));
  EXPECT_THAT(pilot::read_file(root_ / "out/dead-letters/frames-0-4.json").value(),
              HasSubstr("the block says 8 slices of 18 x 18"));
}

TEST_F(ProcessorTest, WaitingBlocksShareACallAndABadOneSpoilsOnlyItself) {
  auto log = log_of(40);
  log->partitions[0].insert(log->partitions[0].begin() + 20, frame(90, {.columns = 20}));
  algorithm_->before = [](const formats::FrameHeader& h) -> pilot::Result<void> {
    if (h.sequence % 7 == 3) return pilot::make_error(pilot::ErrorCode::usage, "a bad block");
    return pilot::ok();
  };
  const auto report = run("out", log, 41, 1);
  EXPECT_EQ(report.dead_letters, 6u);
  EXPECT_EQ(report.stored, 35u);
  EXPECT_EQ(algorithm_->largest_call, 2u);
}

TEST_F(ProcessorTest, MessageIsAcknowledgedOnlyAfterItsResultIsOnDisk) {
  auto log = log_of(1);
  bool acknowledged_early = false;
  ProcessorOptions options;
  options.algorithm = algorithm_;
  options.store = {.folder = root_ / "out", .picture = {}, .hook = [&](std::string_view) {
                     acknowledged_early |= log->is_acknowledged({0, 0});
                   }};
  options.topic = "frames";
  auto p = Processor::open(options).value();
  p->start(std::make_unique<MemoryConsumer>(log));
  EXPECT_TRUE(log->wait_acknowledged(1));
  p->request_stop();
  EXPECT_TRUE(p->join().has_value());
  EXPECT_FALSE(acknowledged_early);
}

TEST_F(ProcessorTest, RevokedPartitionsAreFinishedAndTheirQueueGivenUp) {
  auto log = log_of(20, 2);
  std::mutex gate;
  std::condition_variable opened;
  bool open = false;
  std::atomic<int> started{0};
  algorithm_->before = [&](const formats::FrameHeader&) -> pilot::Result<void> {
    ++started;
    std::unique_lock lock(gate);
    opened.wait(lock, [&] { return open; });
    return pilot::ok();
  };
  auto p = processor("out", 1);
  int receives = 0;
  bool drained = false;
  log->on_receive = [&] {
    if (++receives != 3) return;  // one in work, one in the queue
    while (started == 0) std::this_thread::yield();
    {
      const std::lock_guard lock(gate);
      open = true;
      opened.notify_all();
    }
    p->revoked({0});
    drained = log->is_acknowledged({0, 0}) && p->report().in_flight == 0;
  };
  p->start(std::make_unique<MemoryConsumer>(log));
  EXPECT_TRUE(log->wait_acknowledged(19));  // one at most was given up
  p->request_stop();
  EXPECT_TRUE(p->join().has_value());
  EXPECT_TRUE(drained) << "what was in work is finished before revoked() returns";
  EXPECT_EQ(p->report().in_flight, 0u);
}

TEST_F(ProcessorTest, FullQueueStopsReceiving) {
  auto log = log_of(60);
  std::mutex gate;
  std::condition_variable opened;
  bool open = false;
  algorithm_->before = [&](const formats::FrameHeader&) -> pilot::Result<void> {
    std::unique_lock lock(gate);
    opened.wait(lock, [&] { return open; });
    return pilot::ok();
  };
  std::atomic<int> receives{0};
  log->on_receive = [&] { ++receives; };
  auto p = processor("out", 2);
  p->start(std::make_unique<MemoryConsumer>(log));
  // Sixteen in the queue, one or two in each worker's hands, one in the receiver's.
  while (receives < 19) std::this_thread::yield();
  EXPECT_LE(p->report().in_flight, 21u);
  {
    const std::lock_guard lock(gate);
    open = true;
    opened.notify_all();
  }
  EXPECT_TRUE(log->wait_acknowledged(60));
  p->request_stop();
  EXPECT_TRUE(p->join().has_value());
}

TEST_F(ProcessorTest, DiskErrorEndsItWithoutAcknowledging) {
  auto log = log_of(8);
  auto p = processor("out", 2);
  // The folder for unfinished volumes turns into a file: nothing can be made any more.
  fs::remove_all(root_ / "out" / ".blocks");
  std::ofstream(root_ / "out" / ".blocks") << "x";
  p->start(std::make_unique<MemoryConsumer>(log));
  const auto result = p->join();
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr(".blocks/"));
  EXPECT_TRUE(p->finished());
  EXPECT_TRUE(log->acknowledged.empty());
}

TEST_F(ProcessorTest, ErrorOfTheTransportEndsItAndKeepsWhatWasDone) {
  auto log = log_of(4);
  log->receive_error = pilot::make_error(pilot::ErrorCode::unavailable, "login refused");
  auto p = processor("out", 2);
  p->start(std::make_unique<MemoryConsumer>(log));
  const auto result = p->join();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "login refused");
}

TEST_F(ProcessorTest, StopFinishesWhatWasReceived) {
  auto log = log_of(30);
  std::atomic<int> blocks{0};
  auto p = processor("out", 2);
  algorithm_->before = [&](const formats::FrameHeader&) -> pilot::Result<void> {
    if (++blocks == 5) p->request_stop();
    return pilot::ok();
  };
  p->start(std::make_unique<MemoryConsumer>(log));
  ASSERT_TRUE(p->join().has_value());
  EXPECT_EQ(p->report().in_flight, 0u);
  EXPECT_EQ(p->report().stored, log->acknowledged.size());
  EXPECT_GE(log->acknowledged.size(), 5u);
}

}  // namespace
}  // namespace miniapps::processors
