#include "pilot/agent/background.hpp"

#include <utility>

namespace pilot::agent {

Background::~Background() {
  for (auto& worker : workers_) worker.thread.join();
}

void Background::run(std::function<std::function<void()>()> job) {
  workers_.remove_if([](Worker& worker) {
    if (!worker.done) return false;
    worker.thread.join();
    return true;
  });
  Worker& worker = workers_.emplace_back();
  worker.thread = std::thread([this, &worker, job = std::move(job), alive = std::weak_ptr(alive_)] {
    loop_.post([alive, next = job()] {
      if (alive.lock()) next();
    });
    worker.done = true;
  });
}

}  // namespace pilot::agent
