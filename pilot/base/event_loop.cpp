#include "pilot/base/event_loop.hpp"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace pilot {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// Longer delays only overflow the clock.
constexpr Duration longest = std::chrono::hours(24 * 365 * 100);

Duration bounded(Duration duration) {
  return std::clamp(duration, Duration{0}, longest);
}

}  // namespace

// A live registration.  Each pending operation holds a reference, so that a handler may cancel or
// destroy its own Handle; `cancelled_` stops completions that are already queued.
struct EventLoop::Handle::State : std::enable_shared_from_this<EventLoop::Handle::State> {
 public:
  using Registry = std::set<State*>;

  explicit State(Registry& registry) : registry_(registry) { registry_.insert(this); }
  virtual ~State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // After this neither the loop nor the registry is touched, so a Handle may outlive the loop.
  void cancel() {
    if (std::exchange(cancelled_, true)) return;
    const auto self = shared_from_this();  // what the task owns may own our last Handle
    registry_.erase(this);
    close();
    if (!running_) drop_task();
  }

  bool cancelled() const { return cancelled_; }

 protected:
  // Gives the asio object back; pending operations complete as aborted.
  virtual void close() = 0;
  virtual void drop_task() = 0;

  // Calls `task` unless cancelled.  True: still wanted afterwards.  A task that cancels itself is freed
  // with the operation that called it.
  template <typename Task, typename... Args>
  bool call(Task& task, Args... args) {
    if (cancelled_) return false;
    running_ = true;
    task(args...);
    running_ = false;
    return !cancelled_;
  }

 private:
  Registry& registry_;
  bool cancelled_ = false;
  bool running_ = false;
};

namespace {

using State = EventLoop::Handle::State;

class TimerState final : public State {
 public:
  // An `interval` of zero means once.
  TimerState(Registry& registry, asio::io_context& context, Duration interval, std::function<void()> task)
      : State(registry), timer_(context), interval_(interval), task_(std::move(task)) {}

  void start(Duration delay) {
    timer_->expires_after(delay);
    wait();
  }

 private:
  void wait() {
    timer_->async_wait([this, self = shared_from_this()](const error_code&) { expired(); });
  }

  void expired() {
    if (!call(task_)) return;
    if (interval_ == Duration{0}) {
      cancel();  // what the task captured is freed now, not with the Handle
      return;
    }
    // Keeps the beat, but beats missed while the loop was busy are not made up for.
    const auto now = asio::steady_timer::clock_type::now();
    const auto next = timer_->expiry() + interval_;
    timer_->expires_at(next > now ? next : now + interval_);
    wait();
  }

  void close() override { timer_.reset(); }
  void drop_task() override { const auto dropped = std::exchange(task_, nullptr); }

  std::optional<asio::steady_timer> timer_;
  Duration interval_;
  std::function<void()> task_;
};

class ReadableState final : public State {
 public:
  ReadableState(Registry& registry, asio::io_context& context, std::function<void()> task)
      : State(registry), descriptor_(context), task_(std::move(task)) {}

  void start(int fd) {
    error_code error;
    if (descriptor_->assign(fd, error)) throw std::system_error(error, "cannot watch a file descriptor");
    wait();
  }

 private:
  void wait() {
    descriptor_->async_wait(asio::posix::stream_descriptor::wait_read,
                            [this, self = shared_from_this()](const error_code&) {
                              // An error is also called readable, as poll(2) does: the task's read()
                              // tells what it is.  Regular files, which epoll refuses, end up here.
                              if (call(task_)) wait();
                            });
  }

  void close() override {
    if (descriptor_->is_open()) descriptor_->release();  // the caller closes the fd
    descriptor_.reset();
  }
  void drop_task() override { const auto dropped = std::exchange(task_, nullptr); }

  std::optional<asio::posix::stream_descriptor> descriptor_;
  std::function<void()> task_;
};

class SignalState final : public State {
 public:
  SignalState(Registry& registry, asio::io_context& context, std::function<void(int)> task)
      : State(registry), signals_(context), task_(std::move(task)) {}

  void start(int signal) {
    error_code error;
    if (signals_->add(signal, error)) throw std::system_error(error, "cannot watch for a signal");
    wait();
  }

 private:
  void wait() {
    signals_->async_wait([this, self = shared_from_this()](const error_code& error, int signal) {
      if (!error && call(task_, signal)) wait();
    });
  }

  void close() override { signals_.reset(); }
  void drop_task() override { const auto dropped = std::exchange(task_, nullptr); }

  std::optional<asio::signal_set> signals_;
  std::function<void(int)> task_;
};

}  // namespace

struct EventLoop::Impl {
  // Posted tasks that never ran are destroyed with the context and may hold Handles.
  State::Registry registry;
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};

  template <typename Kind, typename Start, typename... Args>
  Handle start(Start how, Args&&... args) {
    auto state = std::make_shared<Kind>(registry, context, std::forward<Args>(args)...);
    Handle handle(state);  // first, so that a throw from starting takes it back
    state->start(how);
    return handle;
  }

  ~Impl() {
    while (!registry.empty()) (*registry.begin())->cancel();
  }
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

// A stop() that came before run() must count, hence the restart after and not before.
void EventLoop::run() {
  impl_->context.run();
  impl_->context.restart();
}

void EventLoop::run_for(Duration limit) {
  if (limit > Duration{0}) {
    impl_->context.run_for(bounded(limit));
  } else {
    impl_->context.poll();  // run_for() would return at once
  }
  if (impl_->context.stopped()) impl_->context.restart();
}

void EventLoop::stop() {
  impl_->context.stop();
}

void EventLoop::post(std::function<void()> task) {
  asio::post(impl_->context, std::move(task));
}

asio::io_context& EventLoop::context() {
  return impl_->context;
}

EventLoop::Handle& EventLoop::Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

void EventLoop::Handle::cancel() {
  if (const auto state = std::exchange(state_, nullptr)) state->cancel();
}

EventLoop::Handle EventLoop::after(Duration delay, std::function<void()> task) {
  return impl_->start<TimerState>(bounded(delay), Duration{0}, std::move(task));
}

EventLoop::Handle EventLoop::every(Duration interval, std::function<void()> task) {
  const Duration beat = std::max(bounded(interval), Duration{1});
  return impl_->start<TimerState>(beat, beat, std::move(task));
}

EventLoop::Handle EventLoop::on_readable(int fd, std::function<void()> task) {
  return impl_->start<ReadableState>(fd, std::move(task));
}

EventLoop::Handle EventLoop::on_signal(int signal, std::function<void(int)> task) {
  return impl_->start<SignalState>(signal, std::move(task));
}

}  // namespace pilot
