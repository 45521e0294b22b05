#include "pilot/proc/pidfd.hpp"

#include <sys/syscall.h>
#include <unistd.h>

// The numbers are the same on every architecture; older headers lack the names.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace pilot::proc {

Pidfd::Pidfd(pid_t pid) {
  if (pid > 0) fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

Pidfd::~Pidfd() {
  if (fd_ >= 0) ::close(fd_);
}

bool Pidfd::send(int signal) const {
  return ::syscall(SYS_pidfd_send_signal, fd_, signal, nullptr, 0) == 0;
}

}  // namespace pilot::proc
