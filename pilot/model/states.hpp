// The state machines of a pilot, an allocation, a node and a service: their states, and the one table
// each of what may follow what.  `pilot help states` prints these tables.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace pilot::model {

enum class PilotPhase {
  submitted,  // its allocation is requested; no agent has come yet
  starting,   // agents register
  booting,    // all base nodes are there; services start
  ready,      // every service answers
  degraded,   // was ready; a node or a service is not there now
  stopping,
  stopped,
  failed,  // could not be started; what it started has been stopped
};

enum class AllocationPhase { pending, running, suspended, ended, unknown };

enum class NodePhase { expected, up, lost, released };

enum class ServicePhase {
  planned,
  preparing,  // files are written, its prepare steps run
  starting,   // its process runs, it does not answer yet
  ready,
  waiting,  // ended unexpectedly; will be started again after a back-off
  stopping,
  stopped,
  failed,  // given up; the cause is in its report
  lost,    // its node is lost, nothing is known of it
};

std::string_view to_string(PilotPhase phase);
std::string_view to_string(AllocationPhase phase);
std::string_view to_string(NodePhase phase);
std::string_view to_string(ServicePhase phase);

template <typename Phase>
using Transitions = std::span<const std::pair<Phase, Phase>>;

Transitions<PilotPhase> pilot_transitions();
Transitions<AllocationPhase> allocation_transitions();
Transitions<NodePhase> node_transitions();
Transitions<ServicePhase> service_transitions();

bool may_follow(PilotPhase from, PilotPhase to);
bool may_follow(AllocationPhase from, AllocationPhase to);
bool may_follow(NodePhase from, NodePhase to);
bool may_follow(ServicePhase from, ServicePhase to);

// Neither changes any more by itself.
bool is_final(PilotPhase phase);
bool is_final(ServicePhase phase);

}  // namespace pilot::model
