#include "pilot/store/event_log.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::store {
namespace {

class EventLogTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_directory(folder_).has_value()); }
  void TearDown() override { (void)remove_tree(folder_); }

  EventLog open() {
    auto log = EventLog::open(folder_, clock_);
    if (!log) ADD_FAILURE() << log.error().text();
    return std::move(log).value();
  }

  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("event_log_test." + random_hex(6));
  ManualClock clock_;
};

TEST_F(EventLogTest, ReadsBackWhatWasAppended) {
  auto log = open();
  ASSERT_TRUE(log.append(model::Note{"one"}).has_value());
  clock_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(log.append({model::Note{"two"}, model::PilotPhaseChanged{model::PilotPhase::starting, ""}})
                  .has_value());
  auto content = read_event_log(folder_ / "events.jsonl");
  ASSERT_TRUE(content.has_value());
  ASSERT_EQ(content.value().events.size(), 3u);
  EXPECT_EQ(content.value().events[2].sequence, 3u);
  EXPECT_EQ(content.value().events[1].at - content.value().events[0].at, std::chrono::seconds(1));
  EXPECT_EQ(log.state().phase, model::PilotPhase::starting);
}

TEST_F(EventLogTest, ReadsOnFromWhereItStopped) {
  auto log = open();
  ASSERT_TRUE(log.append(model::Note{"one"}).has_value());
  const auto first = read_event_log(folder_ / "events.jsonl").value();
  ASSERT_TRUE(log.append(model::Note{"two"}).has_value());
  const auto rest = read_event_log(folder_ / "events.jsonl", first.complete_bytes).value();
  ASSERT_EQ(rest.events.size(), 1u);
  EXPECT_EQ(rest.events[0].body, model::EventBody{model::Note{"two"}});
}

TEST_F(EventLogTest, APartOfALineLeftByACrashIsCutOffAndNumbersGoOn) {
  { ASSERT_TRUE(open().append(model::Note{"one"}).has_value()); }
  std::ofstream(folder_ / "events.jsonl", std::ios::app) << R"({"seq":2,"at":"20)";
  const auto content = read_event_log(folder_ / "events.jsonl");
  ASSERT_TRUE(content.has_value());
  EXPECT_TRUE(content.value().torn);
  EXPECT_EQ(content.value().events.size(), 1u);
  ASSERT_TRUE(open().append(model::Note{"two"}).has_value());
  const auto repaired = read_event_log(folder_ / "events.jsonl").value();
  EXPECT_FALSE(repaired.torn);
  ASSERT_EQ(repaired.events.size(), 2u);
  EXPECT_EQ(repaired.events[1].sequence, 2u);
}

TEST_F(EventLogTest, DamageInTheMiddleIsNamedNotSkipped) {
  { ASSERT_TRUE(open().append(model::Note{"one"}).has_value()); }
  std::ofstream(folder_ / "events.jsonl", std::ios::app) << "garbage\n";
  auto log = EventLog::open(folder_, clock_);
  ASSERT_FALSE(log.has_value());
  EXPECT_NE(log.error().message.find("line 2"), std::string::npos) << log.error().message;
}

TEST_F(EventLogTest, ASecondWriterIsRefused) {
  auto log = open();
  const pid_t child = ::fork();  // the lock is per process
  if (child == 0) {
    auto second = EventLog::open(folder_, clock_);
    ::_exit(!second && second.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(EventLogTest, AWriterThatWasTakenForDeadDoesNotWriteBehindItsSuccessor) {
  auto log = open();
  ASSERT_TRUE(log.append(model::Note{"first"}).has_value());
  std::ofstream(folder_ / "events.jsonl", std::ios::app) << "{}\n";  // the file system has lost the lock
  const auto written = log.append(model::Note{"second"});
  ASSERT_TRUE(written.has_error());
  EXPECT_EQ(written.error().code, ErrorCode::unavailable);
}

TEST_F(EventLogTest, ASnapshotGivesTheSameStateAsTheWholeLog) {
  {
    auto log = open();
    for (int i = 0; i < 1005; ++i) ASSERT_TRUE(log.append(model::Note{std::to_string(i)}).has_value());
    ASSERT_TRUE(log.append(model::PilotPhaseChanged{model::PilotPhase::ready, ""}).has_value());
  }
  ASSERT_TRUE(std::filesystem::exists(folder_ / "snapshot.json"));
  const auto with_snapshot = load_state(folder_).value();
  std::filesystem::remove(folder_ / "snapshot.json");
  EXPECT_EQ(load_state(folder_).value(), with_snapshot);
  std::ofstream(folder_ / "snapshot.json") << "{\"half\":";
  EXPECT_EQ(load_state(folder_).value(), with_snapshot);
}

}  // namespace
}  // namespace pilot::store
