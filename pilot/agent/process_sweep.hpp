// Ends, by SIGKILL, every process whose environment carries certain marks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pilot/agent/environment.hpp"
#include "pilot/base/event_loop.hpp"
#include "pilot/model/process_identity.hpp"

namespace pilot::agent {

class ProcessSweep {
 public:
  // Calls `on_end` once, from the loop, when none is alive any more, or after `limit` with those that
  // could not be ended.  `spare` is left alone.
  ProcessSweep(EventLoop& loop, const Clock& clock, Environment marks, Duration limit,
               std::function<void(std::vector<model::ProcessIdentity> left)> on_end,
               model::ProcessIdentity spare = {});
  ~ProcessSweep();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::agent
