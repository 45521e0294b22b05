#include "miniapps/processors/offset_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace miniapps::processors {
namespace {

TEST(OffsetTracker, WaitsForTheOldestMessage) {
  OffsetTracker tracker;
  for (int i : {10, 11, 12}) EXPECT_TRUE(tracker.fetched(i));
  tracker.done(11);
  tracker.done(12);
  EXPECT_EQ(tracker.take(), std::nullopt);
  EXPECT_EQ(tracker.open(), 1u);
  tracker.done(10);
  EXPECT_EQ(tracker.take(), 13);
  EXPECT_EQ(tracker.take(), std::nullopt) << "nothing new";
  EXPECT_EQ(tracker.open(), 0u);
}

TEST(OffsetTracker, GapsInTheLogAreNoHindrance) {
  OffsetTracker tracker;
  for (int i : {3, 7, 20}) tracker.fetched(i);
  tracker.done(3);
  EXPECT_EQ(tracker.take(), 4);
  tracker.done(7);
  EXPECT_EQ(tracker.take(), 8);
}

TEST(OffsetTracker, RepeatedDeliveryAndUnknownOffsetsChangeNothing) {
  OffsetTracker tracker;
  EXPECT_TRUE(tracker.fetched(5));
  EXPECT_FALSE(tracker.fetched(5));
  EXPECT_FALSE(tracker.fetched(4));
  tracker.done(99);
  EXPECT_EQ(tracker.take(), std::nullopt);
  tracker.done(5);
  tracker.done(5);
  EXPECT_EQ(tracker.take(), 6);
  EXPECT_EQ(tracker.open(), 0u);
}

// Whatever the order in which messages finish, the position never passes an unfinished message and
// always reaches the first of them.
TEST(OffsetTracker, PositionIsTheFirstUnfinishedMessageInAnyOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    OffsetTracker tracker;
    std::vector<std::int64_t> offsets;
    for (std::int64_t next = 0; offsets.size() < 60; next += 1 + random() % 3) offsets.push_back(next);
    std::vector<std::int64_t> fetched;
    std::set<std::int64_t> unfinished;
    std::int64_t position = -1;
    std::size_t next = 0;
    while (next < offsets.size() || !unfinished.empty()) {
      if (next < offsets.size() && (unfinished.empty() || random() % 2 == 0)) {
        ASSERT_TRUE(tracker.fetched(offsets[next]));
        fetched.push_back(offsets[next]);
        unfinished.insert(offsets[next++]);
      } else {
        auto it = unfinished.begin();
        std::advance(it, random() % unfinished.size());
        tracker.done(*it);
        unfinished.erase(it);
      }
      if (auto moved = tracker.take()) {
        ASSERT_GT(*moved, position);
        position = *moved;
      }
      const auto oldest = unfinished.empty() ? INT64_MAX : *unfinished.begin();
      std::int64_t expected = -1;
      for (auto offset : fetched)
        if (offset < oldest) expected = offset + 1;
      ASSERT_EQ(position, expected);
      ASSERT_EQ(tracker.open(), unfinished.size());
    }
  }
}

}  // namespace
}  // namespace miniapps::processors
