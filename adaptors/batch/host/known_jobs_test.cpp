#include "adaptors/batch/host/known_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace pilot::adaptors::host {
namespace {

using model::AllocationPhase;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const WallTime noon{std::chrono::hours(24 * 365 * 56 + 12)};

JobStatus job(const std::string& id, AllocationPhase phase, const std::string& reason = "RUNNING") {
  JobStatus status;
  status.job_id = id;
  status.phase = phase;
  status.reason = reason;
  return status;
}

TEST(KnownJobsTest, AnswersGrowOld) {
  KnownJobs known;
  known.set(job("7", AllocationPhase::running), noon);
  EXPECT_NE(known.find("7", noon + seconds(9), seconds(10)), nullptr);
  EXPECT_EQ(known.find("7", noon + seconds(10), seconds(10)), nullptr);
  EXPECT_EQ(known.find("8", noon, seconds(10)), nullptr);
  EXPECT_EQ(known.find("7", noon - seconds(1), seconds(10)), nullptr) << "heard by a clock that is ahead";
}

TEST(KnownJobsTest, AJobThatWaitsLongIsLookedAtLessOften) {
  KnownJobs known;
  const auto asked_within = [&](AllocationPhase phase, const std::string& reason) {
    int questions = 0;
    for (int second = 0; second < 600; ++second) {
      const WallTime now = noon + seconds(second);
      if (known.find("7", now, seconds(10)) != nullptr) continue;
      known.set(job("7", phase, reason), now);
      known = KnownJobs::parse(known.text());
      ++questions;
    }
    known.forget("7");
    return questions;
  };
  EXPECT_EQ(asked_within(AllocationPhase::running, "RUNNING"), 60);
  EXPECT_EQ(asked_within(AllocationPhase::pending, "PENDING, Resources"), 19);
  EXPECT_EQ(asked_within(AllocationPhase::unknown, "does not answer"), 19);
  known.set(job("7", AllocationPhase::pending, "Resources"), noon);
  for (int i = 0; i < 9; ++i) known.set(job("7", AllocationPhase::pending, "Resources"), noon);
  EXPECT_NE(known.find("7", noon + seconds(39), seconds(10)), nullptr);
  known.set(job("7", AllocationPhase::pending, "Priority"), noon);
  EXPECT_EQ(known.find("7", noon + seconds(10), seconds(10)), nullptr) << "something has changed";
}

TEST(KnownJobsTest, TheEndStays) {
  KnownJobs known;
  known.set(job("7", AllocationPhase::ended), noon);
  EXPECT_NE(known.find("7", noon + std::chrono::hours(5), seconds(10)), nullptr);
}

TEST(KnownJobsTest, AsksForWhatSomebodyWaitsFor) {
  KnownJobs known;
  known.set(job("1", AllocationPhase::running), noon);
  known.set(job("2", AllocationPhase::ended), noon);
  known.set(job("3", AllocationPhase::pending), noon - std::chrono::hours(2));
  known.set(job("4", AllocationPhase::unknown), noon - seconds(30));
  EXPECT_THAT(known.worth_asking(noon, std::chrono::hours(1)), ElementsAre("1", "4"));
  known.drop_older_than(noon);
  EXPECT_THAT(known.worth_asking(noon, std::chrono::hours(5)), ElementsAre("1"));
}

TEST(KnownJobsTest, RoundTrip) {
  KnownJobs known;
  JobStatus one = job("12", AllocationPhase::running, "RUNNING");
  one.ends_at = noon + seconds(60);
  known.set(one, noon);
  JobStatus two = job("13.head", AllocationPhase::pending, "PENDING, Resources: waits for\nnodes");
  two.starts_at = noon + seconds(5);
  known.set(two, noon);
  known.set(job("14", AllocationPhase::unknown, ""), noon);
  const KnownJobs again = KnownJobs::parse(known.text());
  EXPECT_EQ(again.text(), known.text());
  ASSERT_NE(again.find("12", noon, seconds(1)), nullptr);
  EXPECT_EQ(again.find("12", noon, seconds(1))->ends_at, one.ends_at);
  EXPECT_EQ(again.find("13.head", noon, seconds(1))->starts_at, two.starts_at);
  EXPECT_EQ(again.find("13.head", noon, seconds(1))->reason, "PENDING, Resources: waits for nodes");
}

TEST(KnownJobsTest, ADamagedFileIsNoTrouble) {
  EXPECT_THAT(
      KnownJobs::parse("rubbish\n12\n13 x running 0 0 0\n14 1 nonsense 0 0 0 r\n15 1 pending 0 0 -1 r\n")
          .text(),
      IsEmpty());
  std::mt19937 random(1);
  KnownJobs known;
  known.set(job("12", AllocationPhase::running), noon);
  for (int i = 0; i < 2000; ++i) {
    std::string text = known.text() + known.text();
    for (int flips = 0; flips < 3; ++flips) text[random() % text.size()] = static_cast<char>(random());
    const KnownJobs read = KnownJobs::parse(text);
    EXPECT_EQ(KnownJobs::parse(read.text()).text(), read.text());
  }
}

}  // namespace
}  // namespace pilot::adaptors::host
