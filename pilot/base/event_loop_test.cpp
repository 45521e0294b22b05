#include "pilot/base/event_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pilot/base/test_support.hpp"

namespace pilot {
namespace {

using namespace std::chrono_literals;
using Handle = EventLoop::Handle;

using pilot::test::eventually;
using pilot::test::patience;

TEST(EventLoop, RunsUntilStoppedThoughIdle) {
  EventLoop loop;
  std::atomic<bool> returned{false};
  std::atomic<bool> worked{false};
  std::thread runner([&] {
    loop.run();
    returned = true;
  });
  loop.post([&] { worked = true; });
  const Deadline deadline(system_clock(), patience);
  while (!worked && !deadline.passed()) std::this_thread::yield();
  EXPECT_TRUE(worked);
  EXPECT_FALSE(returned);
  loop.stop();
  runner.join();
  EXPECT_TRUE(returned);
}

TEST(EventLoop, StopBeforeRunCountsOnce) {
  EventLoop loop;
  loop.stop();
  loop.run();  // would hang
  int calls = 0;
  loop.post([&] {
    ++calls;
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, RunForGivesUpAtItsLimitAndEndsAtStop) {
  EventLoop loop;
  const SteadyTime start = system_clock().steady();
  loop.run_for(20ms);
  EXPECT_GE(system_clock().steady() - start, 20ms);
  loop.post([&] { loop.stop(); });
  loop.run_for(Duration::max());  // would hang
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.run_for(0ms);
  EXPECT_TRUE(ran);
}

TEST(EventLoop, PostKeepsTheOrderOfEachThread) {
  EventLoop loop;
  constexpr int threads = 4, each = 500;
  std::vector<std::vector<int>> seen(threads);
  std::vector<std::thread> posters;
  const auto loop_thread = std::this_thread::get_id();
  for (int poster = 0; poster < threads; ++poster) {
    posters.emplace_back([&, poster] {
      for (int number = 0; number < each; ++number) {
        loop.post([&, poster, number] {
          EXPECT_EQ(std::this_thread::get_id(), loop_thread);
          seen[static_cast<std::size_t>(poster)].push_back(number);
        });
      }
    });
  }
  const auto all = [&] {
    std::size_t total = 0;
    for (const auto& numbers : seen) total += numbers.size();
    return total == threads * each;
  };
  EXPECT_TRUE(eventually(loop, all));
  for (auto& poster : posters) poster.join();
  for (const auto& numbers : seen) EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST(EventLoop, PostedFromAHandlerRunsLater) {
  EventLoop loop;
  std::string order;
  loop.post([&] {
    loop.post([&] { order += 'b'; });
    order += 'a';
  });
  EXPECT_TRUE(eventually(loop, [&] { return order.size() == 2; }));
  EXPECT_EQ(order, "ab");
}

TEST(EventLoopTimer, AfterCallsOnceInOrderOfDelayAndNotEarly) {
  EventLoop loop;
  std::string order;
  SteadyTime start{}, called{};
  Handle late, soon, now;
  do {  // anew when making them took so long that they are due in another order
    start = system_clock().steady();
    late = loop.after(200ms, [&] { order += 'c', called = system_clock().steady(); });
    soon = loop.after(100ms, [&] { order += 'b'; });
    now = loop.after(-1s, [&] { order += 'a'; });
  } while (system_clock().steady() - start >= 100ms);
  const Handle never = loop.after(Duration::max(), [&] { order += '!'; });
  EXPECT_TRUE(eventually(loop, [&] { return order.size() >= 3; }));
  loop.run_for(5ms);
  EXPECT_EQ(order, "abc");
  EXPECT_GE(called - start, 200ms);
}

TEST(EventLoopTimer, AfterFreesItsTaskOnceCalled) {
  EventLoop loop;
  auto held = std::make_shared<int>(1);
  const Handle handle = loop.after(0ms, [held] {});
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_TRUE(eventually(loop, [&] { return held.use_count() == 1; }));
}

TEST(EventLoopTimer, EveryRepeatsUntilCancelled) {
  EventLoop loop;
  int calls = 0;
  Handle handle = loop.every(1ms, [&] { ++calls; });
  EXPECT_TRUE(eventually(loop, [&] { return calls >= 5; }));
  handle.cancel();
  const int before = calls;
  loop.run_for(10ms);
  EXPECT_EQ(calls, before);
}

TEST(EventLoopTimer, EverySkipsMissedBeats) {
  EventLoop loop;
  int calls = 0;
  std::vector<SteadyTime> times;
  const Handle handle = loop.every(5ms, [&] {
    times.push_back(system_clock().steady());
    // A handler that holds the loop for many intervals.
    const Deadline busy(system_clock(), ++calls == 1 ? 60ms : 0ms);
    while (!busy.passed()) std::this_thread::yield();
  });
  EXPECT_TRUE(eventually(loop, [&] { return calls >= 3; }));
  // Made-up beats would come at once after the long one.
  EXPECT_GE(times[1] - times[0], 65ms);
}

TEST(EventLoopHandle, CancelledTaskIsNotCalledThoughAlreadyDue) {
  EventLoop loop;
  int calls = 0;
  Handle first, second;
  const SteadyTime start = system_clock().steady();
  // Both are due by the time the loop looks, so both completions are queued; the first one called
  // cancels the other.
  first = loop.after(1ms, [&] { ++calls, second.cancel(); });
  second = loop.after(1ms, [&] { ++calls, first.cancel(); });
  while (system_clock().steady() - start < 2ms) std::this_thread::yield();
  EXPECT_TRUE(eventually(loop, [&] { return calls > 0; }));
  loop.run_for(10ms);
  EXPECT_EQ(calls, 1);
}

TEST(EventLoopHandle, CancelInsideItsOwnTask) {
  EventLoop loop;
  int calls = 0;
  auto held = std::make_shared<int>(7);
  Handle handle;
  handle = loop.every(1ms, [&, held] {
    handle.cancel();
    calls += *held == 7 ? 1 : 100;  // the captures live until the task returns
  });
  EXPECT_TRUE(eventually(loop, [&] { return calls > 0; }));
  loop.run_for(10ms);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(held.use_count(), 1);
}

// An object that ends itself from its own timer, as a closing connection does.
struct Owner {
  explicit Owner(int& destroyed_count) : destroyed(destroyed_count) {}
  ~Owner() { ++destroyed; }
  int& destroyed;
  int value = 7;
  Handle handle;
};

TEST(EventLoopHandle, DestroyedInsideItsOwnTask) {
  EventLoop loop;
  int destroyed = 0;
  auto owner = std::make_unique<Owner>(destroyed);
  int seen = 0;
  owner->handle = loop.every(1ms, [&owner, &seen, own = std::make_shared<int>(7)] {
    owner.reset();
    seen += *own;
  });
  EXPECT_TRUE(eventually(loop, [&] { return seen > 0; }));
  loop.run_for(10ms);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(destroyed, 1);
}

// The task owns the owner of the handle: cancelling breaks the circle.
TEST(EventLoopHandle, CancelReleasesWhatTheTaskOwns) {
  EventLoop loop;
  int destroyed = 0;
  std::weak_ptr<Owner> watched;
  {
    auto owner = std::make_shared<Owner>(destroyed);
    watched = owner;
    owner->handle = loop.after(1h, [owner] { owner->value = 0; });
  }
  ASSERT_FALSE(watched.expired());
  // Destroys owner, and its handle with it, while in cancel().
  watched.lock()->handle.cancel();
  EXPECT_EQ(destroyed, 1);
}

TEST(EventLoopHandle, ReplacedInsideItsOwnTask) {
  EventLoop loop;
  std::string order;
  Handle handle;
  handle = loop.after(0ms, [&] {
    handle = loop.after(0ms, [&] { order += 'b'; });
    order += 'a';
  });
  EXPECT_TRUE(eventually(loop, [&] { return order.size() == 2; }));
  EXPECT_EQ(order, "ab");
}

TEST(EventLoopHandle, AssignmentCancelsWhatItReplaces) {
  EventLoop loop;
  std::string called;
  Handle handle = loop.after(0ms, [&] { called += 'a'; });
  handle = loop.after(0ms, [&] { called += 'b'; });
  Handle moved = std::move(handle);
  handle.cancel();  // NOLINT: a moved-from handle stands for nothing
  EXPECT_TRUE(eventually(loop, [&] { return !called.empty(); }));
  loop.run_for(5ms);
  EXPECT_EQ(called, "b");
}

TEST(EventLoop, ExceptionsOfTasksLeaveRun) {
  EventLoop loop;
  loop.post([] { throw std::runtime_error("from a task"); });
  EXPECT_THROW(loop.run(), std::runtime_error);
  bool ran = false;
  loop.post([&] { ran = true, loop.stop(); });
  loop.run();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace pilot
