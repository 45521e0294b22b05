// Looking at a pilot again and again until it is as somebody wants it.
#pragma once

#include <functional>
#include <optional>

#include "pilot/core/running_pilot.hpp"

namespace pilot::core {

struct WaitLoop {
  std::function<Result<bool>()> look;   // reads on in the log; whether it is so
  std::function<Result<void>()> check;  // every two seconds: what the log does not say
  std::function<Error(Duration)> late;  // after `timeout`
  std::optional<Duration> timeout;
  bool queue_is_free = false;  // the timeout begins when the nodes are there
};

// True: it is so.  False: interrupted.  Errors: those of the functions.
Result<bool> wait_until(const Context& context, const RunningPilot& pilot, const WaitLoop& loop);

}  // namespace pilot::core
