#include "miniapps/processors/bounded_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <numeric>
#include <thread>

namespace miniapps::processors {
namespace {

// One item, or nothing when the queue is closed and empty.
template <typename T>
std::optional<T> pop(BoundedQueue<T>& queue) {
  auto some = queue.pop_some(1, 1);
  if (some.empty()) return std::nullopt;
  return std::move(some.front());
}

TEST(BoundedQueue, FullQueueHoldsTheProducerUntilThereIsRoom) {
  BoundedQueue<int> queue(2);
  std::atomic<int> pushed{0};
  std::thread producer([&] {
    for (int i = 0; i < 5; ++i) {
      queue.push(i);
      ++pushed;
    }
    queue.close();
  });
  for (int expected = 0; expected < 5; ++expected) {
    EXPECT_LE(pushed.load(), expected + 3) << "two inside and one on its way";
    EXPECT_EQ(pop(queue), expected);
  }
  EXPECT_EQ(pop(queue), std::nullopt);
  producer.join();
}

TEST(BoundedQueue, WeightsBoundItButOneItemAlwaysFits) {
  BoundedQueue<int> queue(10);
  EXPECT_TRUE(queue.push(1, 50));
  auto second = std::async(std::launch::async, [&] { return queue.push(2, 1); });
  EXPECT_EQ(pop(queue), 1);
  EXPECT_TRUE(second.get());
  EXPECT_TRUE(queue.push(3, 9));
  EXPECT_EQ(queue.pop_all(), (std::vector<int>{2, 3}));
}

TEST(BoundedQueue, CloseWakesAllAndRefusesMore) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  EXPECT_TRUE(queue.push(std::make_unique<int>(1)));
  auto blocked = std::async(std::launch::async, [&] { return queue.push(std::make_unique<int>(2)); });
  queue.close();
  EXPECT_FALSE(blocked.get());
  EXPECT_EQ(*pop(queue).value(), 1) << "what was inside is not lost";
  EXPECT_FALSE(pop(queue).has_value());
  EXPECT_TRUE(queue.pop_all().empty());
}

TEST(BoundedQueue, TakeIfLeavesTheRestInOrder) {
  BoundedQueue<int> queue(10);
  for (int i = 0; i < 6; ++i) queue.push(i);
  EXPECT_EQ(queue.take_if([](int i) { return i % 2 == 0; }), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(queue.pop_all(), (std::vector<int>{1, 3, 5}));
}

TEST(BoundedQueue, SomeIsAFairShareAndAtMostWhatWasAsked) {
  BoundedQueue<int> queue(10);
  for (int i = 0; i < 7; ++i) queue.push(i);
  EXPECT_EQ(queue.pop_some(4, 2), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(queue.pop_some(4, 2), (std::vector<int>{4, 5})) << "half of three, rounded up";
  EXPECT_EQ(queue.pop_some(4, 2), (std::vector<int>{6}));
  queue.close();
  EXPECT_TRUE(queue.pop_some(4, 2).empty());
}

TEST(BoundedQueue, ManyThreadsLoseAndRepeatNothing) {
  BoundedQueue<int> queue(3);
  constexpr int each = 2000;
  std::vector<std::thread> producers, consumers;
  std::atomic<long> sum{0};
  for (int p = 0; p < 3; ++p)
    producers.emplace_back([&queue, p] {
      for (int i = 0; i < each; ++i) queue.push(p * each + i);
    });
  for (int c = 0; c < 3; ++c)
    consumers.emplace_back([&] {
      while (auto item = pop(queue)) sum += *item;
    });
  for (auto& thread : producers) thread.join();
  queue.close();
  for (auto& thread : consumers) thread.join();
  EXPECT_EQ(sum.load(), 3L * each * (3L * each - 1) / 2);
}

}  // namespace
}  // namespace miniapps::processors
