// Work that would block the loop (a tool that asks a batch system, removing a large folder) on threads
// of its own.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <thread>

#include "pilot/base/event_loop.hpp"

namespace pilot::agent {

class Background {
 public:
  explicit Background(EventLoop& loop) : loop_(loop) {}
  // Waits for what is under way; its continuations are not called any more.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Runs `job` on a thread; what it returns is called on the loop.
  void run(std::function<std::function<void()>()> job);

 private:
  struct Worker {
    std::atomic<bool> done = false;
    std::thread thread;
  };
  EventLoop& loop_;
  std::list<Worker> workers_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace pilot::agent
