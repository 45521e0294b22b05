#include "pilot/base/event_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace pilot {
namespace {

using namespace std::chrono_literals;
using Handle = EventLoop::Handle;

// How long what must happen may take on a busy machine.
constexpr Duration patience = 20s;

// Runs the loop until `condition`, looked at after whatever the loop did.
template <typename Condition>
bool run_until(EventLoop& loop, Condition condition) {
  const Deadline deadline(system_clock(), patience);
  while (!condition() && !deadline.passed()) loop.run_for(1ms);
  return condition();
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close_writer();
  }
  int reader() const { return ends_[0]; }
  void write(std::string_view text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // "" at the end and when there is nothing.
  std::string read(std::size_t most) {
    std::string text(most, '\0');
    const ssize_t got = ::read(ends_[0], text.data(), most);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

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
  EXPECT_TRUE(run_until(loop, all));
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
  EXPECT_TRUE(run_until(loop, [&] { return order.size() == 2; }));
  EXPECT_EQ(order, "ab");
}

TEST(EventLoopTimer, AfterCallsOnceInOrderOfDelayAndNotEarly) {
  EventLoop loop;
  std::string order;
  const SteadyTime start = system_clock().steady();
  SteadyTime called{};
  const Handle late = loop.after(20ms, [&] { order += 'c', called = system_clock().steady(); });
  const Handle soon = loop.after(5ms, [&] { order += 'b'; });
  const Handle now = loop.after(-1s, [&] { order += 'a'; });
  const Handle never = loop.after(Duration::max(), [&] { order += '!'; });
  EXPECT_TRUE(run_until(loop, [&] { return order.size() >= 3; }));
  loop.run_for(5ms);
  EXPECT_EQ(order, "abc");
  EXPECT_GE(called - start, 20ms);
}

TEST(EventLoopTimer, AfterFreesItsTaskOnceCalled) {
  EventLoop loop;
  auto held = std::make_shared<int>(1);
  const Handle handle = loop.after(0ms, [held] {});
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_TRUE(run_until(loop, [&] { return held.use_count() == 1; }));
}

TEST(EventLoopTimer, EveryRepeatsUntilCancelled) {
  EventLoop loop;
  int calls = 0;
  Handle handle = loop.every(1ms, [&] { ++calls; });
  EXPECT_TRUE(run_until(loop, [&] { return calls >= 5; }));
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
  EXPECT_TRUE(run_until(loop, [&] { return calls >= 3; }));
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
  EXPECT_TRUE(run_until(loop, [&] { return calls > 0; }));
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
  EXPECT_TRUE(run_until(loop, [&] { return seen > 0; }));
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
  EXPECT_TRUE(run_until(loop, [&] { return order.size() == 2; }));
  EXPECT_EQ(order, "ab");
}

TEST(EventLoopHandle, AssignmentCancelsWhatItReplaces) {
  EventLoop loop;
  std::string called;
  Handle handle = loop.after(0ms, [&] { called += 'a'; });
  handle = loop.after(0ms, [&] { called += 'b'; });
  Handle moved = std::move(handle);
  handle.cancel();  // NOLINT: a moved-from handle stands for nothing
  EXPECT_TRUE(run_until(loop, [&] { return !called.empty(); }));
  loop.run_for(5ms);
  EXPECT_EQ(called, "b");
}

TEST(EventLoopHandle, OutlivesTheLoop) {
  Pipe pipe;
  Handle timer, beat, readable, signal;
  auto held = std::make_shared<int>(1);
  {
    EventLoop loop;
    timer = loop.after(0ms, [held] {});
    beat = loop.every(1ms, [held] {});
    readable = loop.on_readable(pipe.reader(), [held] {});
    signal = loop.on_signal(SIGUSR2, [held](int) {});
    // Posted work that never runs and holds a handle of its own.
    auto inner = std::make_shared<Handle>(loop.after(1h, [held] {}));
    loop.post([inner, held] {});
  }
  EXPECT_EQ(held.use_count(), 1);
  timer.cancel();
}

TEST(EventLoopReadable, IsLevelTriggered) {
  EventLoop loop;
  Pipe pipe;
  std::string read;
  int calls = 0;
  const Handle handle = loop.on_readable(pipe.reader(), [&] {
    ++calls;
    read += pipe.read(1);
  });
  loop.run_for(5ms);
  EXPECT_EQ(calls, 0);
  pipe.write("abc");  // one write, three calls
  EXPECT_TRUE(run_until(loop, [&] { return read == "abc"; }));
  EXPECT_EQ(calls, 3);
  loop.run_for(5ms);
  EXPECT_EQ(calls, 3);
  pipe.write("d");
  EXPECT_TRUE(run_until(loop, [&] { return read == "abcd"; }));
}

TEST(EventLoopReadable, IsCalledAtTheEndAndLeavesTheFdOpen) {
  EventLoop loop;
  Pipe pipe;
  int calls = 0;
  Handle handle = loop.on_readable(pipe.reader(), [&] {
    EXPECT_EQ(pipe.read(1), "");
    ++calls;
    handle.cancel();
  });
  pipe.close_writer();
  EXPECT_TRUE(run_until(loop, [&] { return calls > 0; }));
  loop.run_for(5ms);
  EXPECT_EQ(calls, 1);
  EXPECT_GE(::fcntl(pipe.reader(), F_GETFD), 0);
}

TEST(EventLoopReadable, CanBeRegisteredAgainAfterCancelling) {
  EventLoop loop;
  Pipe pipe;
  pipe.write("ab");
  std::string first, second;
  Handle handle;
  handle = loop.on_readable(pipe.reader(), [&] {
    first += pipe.read(1);
    handle.cancel();
    handle = loop.on_readable(pipe.reader(), [&] { second += pipe.read(1); });
  });
  EXPECT_TRUE(run_until(loop, [&] { return second == "b"; }));
  EXPECT_EQ(first, "a");
}

TEST(EventLoopReadable, CancelledTaskIsNotCalledThoughReadable) {
  EventLoop loop;
  Pipe one, two;
  one.write("x");
  two.write("x");
  int calls = 0;
  Handle first, second;
  first = loop.on_readable(one.reader(), [&] { ++calls, one.read(1), second.cancel(); });
  second = loop.on_readable(two.reader(), [&] { ++calls, two.read(1), first.cancel(); });
  loop.run_for(10ms);
  EXPECT_EQ(calls, 1);
}

// epoll refuses these, though poll(2) calls them always readable.
TEST(EventLoopReadable, DevNullIsReadable) {
  EventLoop loop;
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  int calls = 0;
  Handle handle = loop.on_readable(fd, [&] {
    if (++calls == 3) handle.cancel();
  });
  EXPECT_TRUE(run_until(loop, [&] { return calls == 3; }));
  ::close(fd);
}

TEST(EventLoopReadable, BadDescriptorsThrow) {
  EventLoop loop;
  EXPECT_THROW((void)loop.on_readable(-1, [] {}), std::system_error);
  Pipe pipe;
  const Handle handle = loop.on_readable(pipe.reader(), [] {});
  EXPECT_THROW((void)loop.on_readable(pipe.reader(), [] {}), std::system_error);
}

TEST(EventLoopSignal, CallsForEachArrival) {
  EventLoop loop;
  std::vector<int> got;
  Handle handle = loop.on_signal(SIGUSR1, [&](int signal) { got.push_back(signal); });
  for (std::size_t round = 1; round <= 3; ++round) {
    ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
    ASSERT_TRUE(run_until(loop, [&] { return got.size() == round; }));
  }
  EXPECT_EQ(got, (std::vector<int>{SIGUSR1, SIGUSR1, SIGUSR1}));
}

TEST(EventLoopSignal, SeveralHandlesSeeTheSameSignalUntilCancelled) {
  EventLoop loop;
  int first = 0, second = 0;
  Handle one = loop.on_signal(SIGUSR1, [&](int) { ++first, one.cancel(); });
  const Handle two = loop.on_signal(SIGUSR1, [&](int) { ++second; });
  ASSERT_EQ(::raise(SIGUSR1), 0);
  ASSERT_TRUE(run_until(loop, [&] { return first == 1 && second == 1; }));
  ASSERT_EQ(::raise(SIGUSR1), 0);
  ASSERT_TRUE(run_until(loop, [&] { return second == 2; }));
  EXPECT_EQ(first, 1);
}

TEST(EventLoopSignal, WhatIsNoSignalThrows) {
  EventLoop loop;
  EXPECT_THROW((void)loop.on_signal(9999, [](int) {}), std::system_error);
}

TEST(EventLoopSignal, EndsRun) {
  EventLoop loop;
  const Handle handle = loop.on_signal(SIGTERM, [&](int) { loop.stop(); });
  loop.post([] { ::raise(SIGTERM); });
  loop.run();  // would hang, or end the process
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
