#include "pilot/agent/process_sweep.hpp"

#include <csignal>
#include <utility>

#include "pilot/proc/identity.hpp"

namespace pilot::agent {

namespace {
constexpr Duration between_looks = std::chrono::milliseconds(20);
}

struct ProcessSweep::Impl {
  EventLoop& loop;
  Environment marks;
  Deadline deadline;
  std::function<void(std::vector<model::ProcessIdentity>)> on_end;
  model::ProcessIdentity spare;
  EventLoop::Handle timer;

  void look() {
    auto left = proc::processes_with_environment(marks);
    std::erase(left, spare);
    if (left.empty() || deadline.passed()) {
      std::exchange(on_end, nullptr)(std::move(left));  // may destroy this
      return;
    }
    for (const auto& process : left) proc::send_signal(process, SIGKILL);
    timer = loop.after(between_looks, [this] { look(); });
  }
};

ProcessSweep::ProcessSweep(EventLoop& loop, const Clock& clock, Environment marks, Duration limit,
                           std::function<void(std::vector<model::ProcessIdentity>)> on_end,
                           model::ProcessIdentity spare)
    : impl_(
          new Impl{loop, std::move(marks), Deadline(clock, limit), std::move(on_end), std::move(spare), {}}) {
  impl_->timer = loop.after(Duration{0}, [impl = impl_.get()] { impl->look(); });
}

ProcessSweep::~ProcessSweep() = default;

}  // namespace pilot::agent
