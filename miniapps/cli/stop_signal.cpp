#include "miniapps/cli/stop_signal.hpp"

#include <csignal>

namespace miniapps::cli {
namespace {

std::atomic<int> arrived{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void remember(int signal) {
  arrived.store(signal);
}

}  // namespace

const std::atomic<int>& stop_signal() {
  return arrived;
}

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second one has its default effect
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace miniapps::cli
