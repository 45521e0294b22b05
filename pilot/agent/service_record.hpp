// What a node agent must know of a service to take it up again after it was killed itself.
#pragma once

#include <string>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/model/event.hpp"
#include "pilot/model/process_identity.hpp"
#include "pilot/model/service_spec.hpp"
#include "pilot/model/states.hpp"

namespace pilot::agent {

struct ServiceRecord {
  model::ServiceSpec spec;
  model::ServicePhase phase = model::ServicePhase::planned;
  model::ProcessIdentity process;  // the last one that was started
  int starts = 0;                  // how often a process was started
  std::vector<WallTime> restarts;  // when, within the restart policy's window
  std::string reason;
  std::string log_tail;
  bool operator==(const ServiceRecord&) const = default;

  // Nothing of it runs, and nothing will by itself.
  bool at_rest() const { return phase == model::ServicePhase::planned || model::is_final(phase); }

  model::ServiceChanged report() const {
    // A process that is known to be gone is not named.
    const bool runs = phase == model::ServicePhase::starting || phase == model::ServicePhase::ready ||
                      phase == model::ServicePhase::stopping;
    return {spec.id, phase,   runs ? process : model::ProcessIdentity{}, static_cast<int>(restarts.size()),
            reason,  log_tail};
  }
};

}  // namespace pilot::agent
