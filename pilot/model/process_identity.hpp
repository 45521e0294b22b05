// Which process: a pid alone is reused, so a process is named by its pid, the kernel's start time and
// the boot in which it ran.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pilot::model {

struct ProcessIdentity {
  pid_t pid = 0;                  // 0: none
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::string boot_id;            // /proc/sys/kernel/random/boot_id
  bool operator==(const ProcessIdentity&) const = default;
  explicit operator bool() const { return pid > 0; }
};

// How a process ended.  `known` is false for one that was adopted: its parent was another process.
struct ExitStatus {
  bool known = true;
  int code = 0;    // exit code, when signal == 0
  int signal = 0;  // the signal that ended it, or 0
  bool operator==(const ExitStatus&) const = default;
  bool clean() const { return known && code == 0 && signal == 0; }
};

// "exit code 3", "killed by signal 9", "ended (its exit code is not known)".
std::string to_string(const ExitStatus& status);

}  // namespace pilot::model
