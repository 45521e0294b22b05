#include "pilot/store/mailbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::store {
namespace {

using namespace std::chrono_literals;

class MailboxTest : public testing::Test {
 protected:
  MailboxTest() { EXPECT_TRUE(make_directory(folder_).has_value()); }
  ~MailboxTest() override { (void)remove_tree(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    return names;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("mailbox_test." + random_hex(6));
  Mailbox mailbox_{folder_};
};

TEST_F(MailboxTest, ARequestIsTakenOnceAnsweredAndLeavesNoFile) {
  std::atomic<bool> answered = false;
  std::atomic<int> taken = 0;
  std::thread head([&] {
    while (!answered) {
      for (const auto& letter : mailbox_.take()) {
        ++taken;
        EXPECT_EQ(letter.id, "0af3");
        EXPECT_TRUE(mailbox_.answer(letter.id, letter.text + ", indeed").has_value());
      }
    }
  });
  const auto answer = mailbox_.ask(system_clock(), "0af3", "so it is", {20s, 20s});
  answered = true;
  head.join();
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_EQ(answer.value(), "so it is, indeed");
  EXPECT_EQ(taken, 1);
  EXPECT_TRUE(files().empty());
}

TEST_F(MailboxTest, WhatIsNotTakenInTimeIsWithdrawn) {
  const auto answer = mailbox_.ask(system_clock(), "0af3", "anybody there?", {10ms, 10s});
  ASSERT_TRUE(answer.has_error());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(mailbox_.take().empty());
  EXPECT_TRUE(files().empty());
}

TEST_F(MailboxTest, WhatIsTakenAndNotAnsweredIsSaidToBe) {
  std::ofstream(folder_ / "0af3.taken") << "the head is at it";
  std::thread head([&] {
    while (mailbox_.take().empty()) {
    }
  });
  const auto answer = mailbox_.ask(system_clock(), "0af4", "well?", {20s, 10ms - 20s});
  head.join();
  ASSERT_TRUE(answer.has_error());
  EXPECT_NE(answer.error().message.find("did not answer"), std::string::npos) << answer.error().message;
}

TEST_F(MailboxTest, LinksAndStrangeNamesAreNotRead) {
  std::ofstream(folder_ / "elsewhere") << "secret";
  std::filesystem::create_symlink(folder_ / "elsewhere", folder_ / "0af3.ask");
  std::ofstream(folder_ / "..x.ask") << "no id";
  EXPECT_TRUE(mailbox_.take().empty());
}

TEST_F(MailboxTest, WhatNobodyFetchedIsRemovedInTheEnd) {
  ASSERT_TRUE(mailbox_.answer("0af3", "late").has_value());
  (void)mailbox_.take();
  EXPECT_EQ(files().size(), 1U);
  std::filesystem::last_write_time(folder_ / "0af3.answer",
                                   std::filesystem::file_time_type::clock::now() - 2h);
  (void)mailbox_.take();
  EXPECT_EQ(files().size(), 1U) << "our clock says nothing about it";
  ASSERT_TRUE(mailbox_.answer("0af4", "new").has_value());
  (void)mailbox_.take();
  EXPECT_EQ(files().size(), 1U) << "by the time of the new one it is old";
}

TEST_F(MailboxTest, AFolderThatIsNotThereHoldsNothing) {
  EXPECT_TRUE(Mailbox(folder_ / "none").take().empty());
}

}  // namespace
}  // namespace pilot::store
