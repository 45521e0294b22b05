// Asks again and again whether a service (or a whole cluster) answers, until it does or its deadline
// passes.
#pragma once

#include <functional>
#include <memory>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::agent {

class ReadinessProbe {
 public:
  // Calls `on_end` once, from the loop.  Errors: timed_out, with what the last attempt said.
  // A command is run as it stands: placeholders are the caller's business.
  ReadinessProbe(EventLoop& loop, model::Readiness readiness, std::function<void(Result<void>)> on_end);
  ~ReadinessProbe();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::agent
