// The state of a pilot: a pure fold over its events.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pilot/model/event.hpp"

namespace pilot::model {

struct AllocationState {
  std::string job_id;
  int nodes = 0;
  AllocationPhase phase = AllocationPhase::pending;
  std::string reason;
  int first_node = 1;  // its nodes are node-FIRST ... node-(FIRST + nodes - 1)
  std::optional<Duration> walltime;
  bool move = true;                  // data move onto its nodes
  std::optional<WallTime> started;   // when its first agent came
  std::optional<WallTime> told_end;  // when its time is over, by the batch system's clock
  Duration prolonged{0};             // that was moved by so much: it was suspended, or its limit was changed
  // The allocation of whose job its nodes are part, or become it: until then `job_id` is the job that asks
  // for them.  None: it has a job of its own.
  std::optional<std::string> joins;
  std::optional<std::string> throttle;  // of moving data onto its nodes
  // When its wall time is over, for people: by the clock of the head that saw it begin.
  std::optional<WallTime> ends_at() const {
    return started && walltime ? std::optional(*started + *walltime + prolonged) : std::nullopt;
  }
  bool operator==(const AllocationState&) const = default;
};

struct NodeState {
  NodeInfo info;
  NodePhase phase = NodePhase::expected;
  std::string reason;
  bool draining = false;  // it is being given back
  // Once it is released: the batch system has it again, though not the rest of its allocation; or why not.
  bool returned = false;
  std::string return_failure;
  std::optional<std::string> throttle;  // while it drains: of moving its data away
  Duration clock_ahead{0};              // of the head's clock
  bool operator==(const NodeState&) const = default;
};

struct ServiceState {
  ServicePhase phase = ServicePhase::planned;
  ProcessIdentity process;
  int restarts = 0;        // within the policy's window
  int total_restarts = 0;  // over the pilot's life
  std::string reason;
  std::string log_tail;
  WallTime since{};
  bool operator==(const ServiceState&) const = default;
};

struct ClusterState {
  ClusterPlan plan;
  bool ready = false;
  std::map<std::string, ServiceState> services;  // by service id
  // A change of a cluster that was ready: first `changing`, until its new services are ready, then
  // `moving`, until its data are where they shall be.
  bool changing = false;
  bool moving = false;
  std::string change_failure;          // of the last change; empty: none, or it went well
  std::vector<std::string> newcomers;  // nodes that the last change was not for
  std::vector<std::string> arriving;   // services that came with the change
  std::string problem;                 // of its data, by the last check; empty: none
  // Whether the last change failed and was for these nodes.
  bool failed_with(const std::vector<std::string>& nodes) const;
  bool operator==(const ClusterState&) const = default;
};

struct PilotState {
  std::string id;
  PilotSpec spec;
  std::string version, user, host;
  PilotPhase phase = PilotPhase::submitted;
  std::string reason;
  WallTime created{};
  WallTime phase_since{};
  std::optional<HeadStarted> head;
  std::map<std::string, AllocationState> allocations;  // by allocation id
  std::map<std::string, NodeState> nodes;              // by node id
  std::map<std::string, ClusterState> clusters;        // by framework
  // Every process that was ever started for this pilot and is not known to be gone: what stop verifies.
  std::vector<ProcessIdentity> processes;
  std::uint64_t last_sequence = 0;
  bool operator==(const PilotState&) const = default;

  const ServiceSpec* service_spec(std::string_view id) const;
  const ServiceState* service_state(std::string_view id) const;
  // The nodes of an allocation that have ever come, by their ids in order.
  std::vector<std::string> nodes_of(std::string_view allocation) const;
  // Whether a batch job was made bigger or smaller since it began; some systems do that only once.
  bool was_resized(const std::string& job_id) const;
};

// The state after one more event.  Events that make no sense (a service that was never planned) are
// ignored: an old log must stay readable by a newer program.
void apply(PilotState& state, const Event& event);

// All of a log.
PilotState fold(const std::vector<Event>& events);

}  // namespace pilot::model
