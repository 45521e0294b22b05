// What every use case gets: the adaptors, the time, and somebody to tell what happens.
#pragma once

#include <string_view>

#include "pilot/base/clock.hpp"
#include "pilot/model/event.hpp"
#include "pilot/model/pilot_state.hpp"
#include "pilot/plugin/registry.hpp"

namespace pilot::core {

// How often a use case that waits looks again.
inline constexpr Duration look_interval = std::chrono::milliseconds(30);

// Looks on while a use case waits.  All calls come from the waiting thread.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void event(const model::Event&, const model::PilotState& /*after*/) {}
  virtual void waiting(const model::PilotState&) {}    // several times a second
  virtual void note(std::string_view /*sentence*/) {}  // what the use case does itself
  virtual void progress(std::string_view /*line*/) {}  // how far it is
  virtual bool interrupted() { return false; }         // true: stop waiting
};

struct Context {
  plugin::Registry* registry;
  const Clock* clock;
  Observer* observer;
};

}  // namespace pilot::core
