// What /proc/PID/stat says.  For pilot/proc only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace pilot::proc {

struct ProcStat {
  char state = '?';
  long threads = 0;
  std::uint64_t start_ticks = 0;
  // A process whose first thread has ended looks like a zombie while its other threads run.
  bool runs() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

// Nothing when there is no such process, not even as a zombie.
std::optional<ProcStat> read_proc_stat(pid_t pid);

}  // namespace pilot::proc
