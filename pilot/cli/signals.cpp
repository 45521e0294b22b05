#include "pilot/cli/signals.hpp"

#include <unistd.h>

#include <csignal>

namespace pilot::cli {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void on_signal(int number) {
  if (received != 0) _exit(128 + number);
  received = number;
}

}  // namespace

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // `pilot events demo | head` ends quietly
}

int signal_received() {
  return received;
}

}  // namespace pilot::cli
