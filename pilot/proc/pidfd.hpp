// A file descriptor that stands for a process (Linux 5.3).  For pilot/proc only.
#pragma once

#include <sys/types.h>

namespace pilot::proc {

class Pidfd {
 public:
  explicit Pidfd(pid_t pid);
  ~Pidfd();
  Pidfd(const Pidfd&) = delete;
  Pidfd& operator=(const Pidfd&) = delete;

  bool valid() const { return fd_ >= 0; }  // false: no such process, or an older kernel
  int fd() const { return fd_; }           // becomes readable when the process ends
  bool send(int signal) const;

 private:
  int fd_ = -1;
};

}  // namespace pilot::proc
