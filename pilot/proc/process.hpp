// Starting processes, and watching ones that we or somebody else started.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/process_identity.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::proc {

// Where a process's output goes, and what it inherits.
struct SpawnOptions {
  std::filesystem::path output = {};  // stdout and stderr are appended to this file (0600); empty: /dev/null
  std::vector<int> inherit = {};      // file descriptors that stay open in it; all others are closed
};

// Starts the command in a session of its own (it lives on when we end), with stdin from /dev/null.
// argv[0] is looked up on PATH.  Errors: not_found (no such program), failed.
// The caller's process stays its parent: watch it, or it remains a zombie until we end.
Result<model::ProcessIdentity> spawn(const model::Command& command, const SpawnOptions& options);

// How a watch learns that a process ended: by a pidfd, or where the kernel has none (before Linux 5.3)
// by looking five times a second.
enum class WatchBy { pidfd, polling };

// Calls `on_end` once, from the loop, when the process ends, or soon when it has ended already.  For a
// child of ours the exit status is known and the child is reaped; for an adopted one it is not known.
// Destroying the watch stops watching and does not touch the process.
class Watch {
 public:
  Watch(EventLoop& loop, const model::ProcessIdentity& process, std::function<void(model::ExitStatus)> on_end,
        WatchBy by = WatchBy::pidfd);
  ~Watch();
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::proc
