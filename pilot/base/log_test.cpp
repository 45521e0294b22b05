#include "pilot/base/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace pilot {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Puts the program's log back as it was.
class LogTest : public testing::Test {
 protected:
  LogTest() {
    std::string name = (fs::temp_directory_path() / "pilot-log-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~LogTest() override {
    log::set_level(log::Level::warning);
    log::to_standard_error();
    fs::remove_all(folder_);
  }
  void SetUp() override { ASSERT_FALSE(folder_.empty()); }

  fs::path folder_;
};

TEST_F(LogTest, DropsLinesBelowTheLevelAndKeepsOthersOnOneLine) {
  log::to_file(folder_ / "log");
  log::set_level(log::Level::info);
  log::debug("dropped {}", 1);
  log::write(log::Level::debug, "dropped");
  log::info("kept {}", 2);
  log::error("two\nlines");
  log::set_level(log::Level::off);
  log::error("dropped");
  log::write(log::Level::off, "dropped");
  const auto lines = lines_of(folder_ / "log");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(24), " info  kept 2");
  EXPECT_EQ(lines[1].substr(24), " error two\\nlines");
  EXPECT_EQ(lines[0][23], 'Z');
  EXPECT_EQ(fs::status(folder_ / "log").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(LogTest, LinesOfThreadsDoNotMix) {
  log::to_file(folder_ / "log");
  log::set_level(log::Level::info);
  constexpr int threads = 4, lines_each = 500;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < threads; ++writer) {
    writers.emplace_back([writer] {
      for (int line = 0; line < lines_each; ++line)
        log::info("{}", std::string(200, static_cast<char>('a' + writer)));
    });
  }
  for (auto& writer : writers) writer.join();
  const auto lines = lines_of(folder_ / "log");
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(threads * lines_each));
  for (const auto& line : lines) {
    ASSERT_EQ(line.size(), 24 + std::string(" info  ").size() + 200);
    ASSERT_EQ(line.find_first_not_of(line.back(), line.size() - 200), std::string::npos);
  }
}

TEST_F(LogTest, FallsBackToStandardError) {
  testing::internal::CaptureStderr();
  log::to_file(folder_ / "missing" / "log");
  log::error("still said");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cannot open log file"), std::string::npos) << said;
  EXPECT_NE(said.find("still said"), std::string::npos) << said;
}

}  // namespace
}  // namespace pilot
