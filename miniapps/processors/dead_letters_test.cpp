#include "miniapps/processors/dead_letters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace miniapps::processors {
namespace {

namespace fs = std::filesystem;

class DeadLettersTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  std::size_t files() { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("dead-" + pilot::random_hex(6));
  std::vector<std::byte> message_ = std::vector<std::byte>(5, std::byte{0xff});
  pilot::ManualClock clock_;
};

TEST_F(DeadLettersTest, KeepsTheBytesWithTheirOriginAndTheReason) {
  DeadLetters letters(folder_, "frames", 10, clock_);
  EXPECT_TRUE(letters.keep({3, 42}, message_, "bad magic \xff").value());
  EXPECT_EQ(pilot::read_file(folder_ / "frames-3-42.bin").value(), std::string(5, '\xff'));
  const auto text = pilot::read_file(folder_ / "frames-3-42.json").value();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto line = nlohmann::json::parse(text);
  EXPECT_EQ(line["schema"], "miniapp.dead-letter/1");
  EXPECT_EQ(line["topic"], "frames");
  EXPECT_EQ(line["partition"], 3);
  EXPECT_EQ(line["offset"], 42);
  EXPECT_EQ(line["bytes"], 5);
  EXPECT_THAT(line["reason"].get<std::string>(), testing::StartsWith("bad magic"));
}

TEST_F(DeadLettersTest, DeliveredAgainIsKeptOnce) {
  EXPECT_TRUE(DeadLetters(folder_, "frames", 1, clock_).keep({0, 1}, message_, "x").value());
  DeadLetters restarted(folder_, "frames", 1, clock_);
  EXPECT_TRUE(restarted.keep({0, 1}, message_, "x").value());
  EXPECT_EQ(files(), 2u);
}

TEST_F(DeadLettersTest, LimitHoldsAcrossRestarts) {
  EXPECT_TRUE(DeadLetters(folder_, "frames", 2, clock_).keep({0, 1}, message_, "x").value());
  DeadLetters restarted(folder_, "frames", 2, clock_);
  EXPECT_TRUE(restarted.keep({0, 2}, message_, "x").value());
  EXPECT_FALSE(restarted.keep({0, 3}, message_, "x").value());
  EXPECT_EQ(files(), 4u);
}

TEST_F(DeadLettersTest, FolderThatCanNotBeMade) {
  DeadLetters letters("/proc/nowhere", "frames", 2, clock_);
  const auto kept = letters.keep({0, 1}, message_, "x");
  ASSERT_FALSE(kept.has_value());
  EXPECT_THAT(kept.error().message, testing::HasSubstr("cannot make '/proc/nowhere'"));
}

}  // namespace
}  // namespace miniapps::processors
