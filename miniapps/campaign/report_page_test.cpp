#include "miniapps/campaign/report_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "pilot/base/random.hpp"

namespace miniapps::campaign {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class ReportPage : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  ReportInput input() {
    SourceFigures source;
    source.run_id = run_;
    source.acked = source.sent = 8;
    source.mb_per_s = 12.5;
    processors::ProcessReport r;
    r.topic = "frames";
    r.started_unix_ms = 1'700'000'000'000;
    r.messages = r.stored = 8;
    r.bytes = 8'000'000;
    r.active_s = 2;
    r.workers = {{"0", 4, 4'000'000, 0.5, 0.5}, {"1", 4, 4'000'000, 0.5, 0.5}};
    r.messages_per_second = {2, 6};
    r.bytes_per_second = {2'000'000, 6'000'000};
    for (int i = 1; i <= 8; ++i) r.latency.record(i * 10ms);
    r.algorithm = "gridrec filter=shepp";
    r.scans = {{run_, 0, "scan-0.h5", "scan-0-slice-2.png", 4, 4, 2}, {run_, 1, "scan-1.h5", "", 12, 12, 6}};
    std::ofstream(folder_ / "scan-0-slice-2.png") << "foobar";
    ReportInput all;
    all.sources = {source};
    all.processors = {r};
    all.folders = {folder_};
    all.facts = {{"kafka version", "4.3.1"}};
    return all;
  }
  const std::string run_ = std::string(32, 'c');
  fs::path folder_ = fs::path(testing::TempDir()) / ("page-" + pilot::random_hex(6));
};

TEST_F(ReportPage, ShowsFiguresChartsPicturesAndFacts) {
  const auto page = report_page(input());
  for (const char* part : {"All 8 acknowledged messages were reconstructed", "4.0 MB/s", "12.5 MB/s", "p95",
                           "2023-11-14 22:13:20 UTC", "data:image/png;base64,Zm9vYmFy", "scan 0, slice 2",
                           "gridrec filter=shepp", "kafka version", "4.3.1", "<svg"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST_F(ReportPage, SaysWhatIsMissing) {
  auto all = input();
  all.processors[0].scans[1].blocks = 5;
  EXPECT_THAT(report_page(all), HasSubstr("7 of 8 acknowledged messages were reconstructed"));
  all = input();
  all.processors[0].dead_letters = 1;
  EXPECT_THAT(report_page(all), HasSubstr("1 could not be used"));
}

TEST_F(ReportPage, SeveralProcessorsOnOneFolderCountEachScanOnce) {
  auto all = input();
  all.processors.push_back(all.processors[0]);
  all.folders.push_back(folder_);
  const auto page = report_page(all);
  EXPECT_THAT(page, HasSubstr("All 8 acknowledged"));
  EXPECT_THAT(page, HasSubstr("16 messages in 2.0 s"));
}

TEST_F(ReportPage, HalfOfTheInputIsAPageToo) {
  auto all = input();
  all.processors.clear(), all.folders.clear();
  EXPECT_THAT(report_page(all), HasSubstr("12.5 MB/s"));
  all = input();
  all.sources.clear();
  fs::remove(folder_ / "scan-0-slice-2.png");
  EXPECT_THAT(report_page(all), Not(HasSubstr("<img")));
  all.title = "<script>";
  EXPECT_THAT(report_page(all), Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace miniapps::campaign
