// One thread's loop over timers, file descriptors and signals.  The state of an agent belongs to the
// thread that runs its loop; other threads hand work in with post().  (Boost.Asio underneath; only
// event_loop.cpp and pilot/proc see it.)
#pragma once

#include <functional>
#include <memory>

#include "pilot/base/clock.hpp"

namespace boost::asio {
class io_context;
}

namespace pilot {

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until stop().
  void run();
  // Runs what is ready or becomes ready within `limit`; for tests and for clients that wait.
  void run_for(Duration limit);
  // Ends run() soon.  Safe from any thread and from handlers.
  void stop();

  // Calls `task` on the loop's thread.  Safe from any thread.
  void post(std::function<void()> task);

  // Stops what it stands for when destroyed: the handler will not be called afterwards.  To be made,
  // cancelled and destroyed on the loop's thread (or before it runs), also from its own handler, and
  // after the loop is gone.
  class Handle {
   public:
    struct State;
    Handle() = default;
    explicit Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~Handle() { cancel(); }
    Handle(Handle&&) noexcept = default;
    Handle& operator=(Handle&& other) noexcept;
    void cancel();

   private:
    std::shared_ptr<State> state_;
  };

  // Calls `task` once after `delay`.
  [[nodiscard]] Handle after(Duration delay, std::function<void()> task);
  // Calls `task` each `interval`, first after one interval; beats missed meanwhile are skipped.
  [[nodiscard]] Handle every(Duration interval, std::function<void()> task);
  // Calls `task` whenever `fd` is readable, at its end or broken (level-triggered).  The caller keeps
  // the fd and closes it after cancelling.  Makes it non-blocking.  One Handle per fd; throws
  // std::system_error for a second or for a bad fd, which are bugs.
  [[nodiscard]] Handle on_readable(int fd, std::function<void()> task);
  // Calls `task` with the signal's number when one of SIGINT, SIGTERM, SIGHUP, SIGUSR1 ... arrives.
  // Throws std::system_error for what is no signal.
  [[nodiscard]] Handle on_signal(int signal, std::function<void(int)> task);

  // For pilot/proc, whose Boost.Process wants it.
  boost::asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot
