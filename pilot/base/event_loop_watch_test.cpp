// The event loop's file descriptors and signals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/test_support.hpp"

namespace pilot {
namespace {

using namespace std::chrono_literals;
using Handle = EventLoop::Handle;

using pilot::test::eventually;
using pilot::test::patience;

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
  EXPECT_TRUE(eventually(loop, [&] { return read == "abc"; }));
  EXPECT_EQ(calls, 3);
  loop.run_for(5ms);
  EXPECT_EQ(calls, 3);
  pipe.write("d");
  EXPECT_TRUE(eventually(loop, [&] { return read == "abcd"; }));
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
  EXPECT_TRUE(eventually(loop, [&] { return calls > 0; }));
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
  EXPECT_TRUE(eventually(loop, [&] { return second == "b"; }));
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
  EXPECT_TRUE(eventually(loop, [&] { return calls > 0; }));
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
  EXPECT_TRUE(eventually(loop, [&] { return calls == 3; }));
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
    ASSERT_TRUE(eventually(loop, [&] { return got.size() == round; }));
  }
  EXPECT_EQ(got, (std::vector<int>{SIGUSR1, SIGUSR1, SIGUSR1}));
}

TEST(EventLoopSignal, SeveralHandlesSeeTheSameSignalUntilCancelled) {
  EventLoop loop;
  int first = 0, second = 0;
  Handle one = loop.on_signal(SIGUSR1, [&](int) { ++first, one.cancel(); });
  const Handle two = loop.on_signal(SIGUSR1, [&](int) { ++second; });
  ASSERT_EQ(::raise(SIGUSR1), 0);
  ASSERT_TRUE(eventually(loop, [&] { return first == 1 && second == 1; }));
  ASSERT_EQ(::raise(SIGUSR1), 0);
  ASSERT_TRUE(eventually(loop, [&] { return second == 2; }));
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

}  // namespace
}  // namespace pilot
