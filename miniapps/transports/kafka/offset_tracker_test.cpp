#include "miniapps/transports/kafka/offset_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace miniapps::transports::kafka {
namespace {

TEST(OffsetTracker, CommitsUpToTheFirstOpenMessage) {
  OffsetTracker tracker;
  EXPECT_FALSE(tracker.committable());
  for (const int offset : {10, 11, 12}) tracker.received(offset);
  EXPECT_FALSE(tracker.committable()) << "nothing is done yet";
  tracker.done(11);
  EXPECT_FALSE(tracker.committable()) << "10 is still open";
  tracker.done(10);
  EXPECT_EQ(tracker.committable(), 12);
  tracker.done(12);
  EXPECT_EQ(tracker.committable(), 13);
  EXPECT_EQ(tracker.open(), 0U);
}

TEST(OffsetTracker, SaysWhatWasCommittedOnlyOnce) {
  OffsetTracker tracker;
  tracker.received(0);
  tracker.done(0);
  EXPECT_EQ(tracker.committable(), 1);
  tracker.committed(1);
  EXPECT_FALSE(tracker.committable());
}

TEST(OffsetTracker, IgnoresWhatIsNotOpen) {
  OffsetTracker tracker;
  tracker.done(5);
  EXPECT_FALSE(tracker.committable());
  tracker.received(7);
  tracker.done(5);
  tracker.done(7);
  tracker.done(7);
  EXPECT_EQ(tracker.committable(), 8);
}

// Whatever the order: never beyond an open message, never backwards, and all of it in the end.
TEST(OffsetTracker, HoldsInAnyOrder) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    OffsetTracker tracker;
    std::vector<std::int64_t> offsets;
    for (std::int64_t at = random() % 100; offsets.size() < 50; at += 1 + random() % 3) offsets.push_back(at);
    for (const auto offset : offsets) tracker.received(offset);
    auto order = offsets;
    std::shuffle(order.begin(), order.end(), random);
    std::set<std::int64_t> open(offsets.begin(), offsets.end());
    std::int64_t last = 0;
    for (const auto offset : order) {
      tracker.done(offset);
      open.erase(offset);
      const auto safe = tracker.committable();
      if (!safe) continue;
      EXPECT_GT(*safe, last);
      if (!open.empty()) {
        EXPECT_LE(*safe, *open.begin());
      }
      last = *safe;
      tracker.committed(*safe);
    }
    EXPECT_EQ(last, offsets.back() + 1);
  }
}

}  // namespace
}  // namespace miniapps::transports::kafka
