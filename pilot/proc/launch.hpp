// fork and exec.  For pilot/proc only.
#pragma once

#include <sys/types.h>

#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::proc {

// File descriptors that become the new process's 0, 1 and 2, and those that it keeps beside them.
struct LaunchFiles {
  int in = -1, out = -1, err = -1;
  std::vector<int> inherit;
};

// Starts the command in a session of its own, with default signal handling.  The pid stays a child of
// ours until it is reaped.  Errors: not_found (no such program), failed.
Result<pid_t> launch(const model::Command& command, const LaunchFiles& files);

// A file descriptor that closes itself.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() { reset(); }
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

}  // namespace pilot::proc
