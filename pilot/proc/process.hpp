// Starting processes, and watching ones that somebody else started.  The only user of Boost.Process.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/process_identity.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::proc {

// Where a process's output goes, and what it inherits.
struct SpawnOptions {
  std::filesystem::path output;  // stdout and stderr are appended to this file; empty: /dev/null
  std::vector<int> inherit;      // file descriptors that stay open in it; all others are closed
};

// Starts the command in a session of its own (it lives on when we end), with stdin from /dev/null.
// argv[0] is looked up on PATH.  Errors: not_found (no such program), failed.
// The caller's process stays its parent: watch it, or it remains a zombie until we end.
Result<model::ProcessIdentity> spawn(const model::Command& command, const SpawnOptions& options);

// Calls `on_end` once when the process ends.  For a child of ours the exit status is known; for an
// adopted one it is not.  Destroying the watch stops watching and does not touch the process.
class Watch {
 public:
  Watch(EventLoop& loop, const model::ProcessIdentity& process, std::function<void(model::ExitStatus)> on_end);
  ~Watch();
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::proc
