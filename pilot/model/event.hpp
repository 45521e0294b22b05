// What happened to a pilot: the entries of its event log, from which its state follows.  The log's
// form on disk is in pilot/store/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pilot/model/node.hpp"
#include "pilot/model/pilot_spec.hpp"
#include "pilot/model/service_spec.hpp"
#include "pilot/model/states.hpp"

namespace pilot::model {

struct PilotCreated {
  std::string id;  // random, unique for ever; names are used again
  PilotSpec spec;
  std::string version;  // of the program
  std::string user, host;
  bool operator==(const PilotCreated&) const = default;
};

struct AllocationSubmitted {
  std::string allocation;  // "a0"
  std::string job_id;      // the batch system's name for it
  int nodes = 0;
  bool operator==(const AllocationSubmitted&) const = default;
};

// More nodes for a running pilot; asked for by AllocationSubmitted, or AllocationChanged says why not.
struct ExtensionRequested {
  std::string allocation;  // "a1"
  int nodes = 0;
  int first_node = 0;  // its nodes are node-FIRST ...
  std::optional<Duration> walltime;
  bool move = true;  // data move onto the new services
  // The allocation whose job gets its nodes ("a0"), which then end with it; none: a job of its own.
  std::optional<std::string> joins;
  std::optional<std::string> throttle;  // of that move: "50MB/s", "none"; none: as measured
  bool operator==(const ExtensionRequested&) const = default;
};

struct AllocationChanged {
  std::string allocation;
  AllocationPhase phase = AllocationPhase::unknown;
  std::string reason;  // the batch system's words
  // When its time is over, by the batch system's clock: what it says later is compared with this and nothing
  // else.
  std::optional<WallTime> ends_at;
  bool operator==(const AllocationChanged&) const = default;
};

struct HeadStarted {
  ProcessIdentity process;
  std::string host;
  std::string endpoint;             // "tcp://127.77.1.2:20000"
  int start = 1;                    // 1 for the first, 2 after the first restart ...
  std::optional<std::string> node;  // whose agent keeps it running
  bool operator==(const HeadStarted&) const = default;
};

struct NodeRegistered {
  NodeInfo node;
  std::optional<Duration> clock_ahead;  // of the head's clock, when it is more than a moment
  bool operator==(const NodeRegistered&) const = default;
};

struct NodeChanged {
  std::string node;
  NodePhase phase = NodePhase::lost;
  std::string reason;
  bool operator==(const NodeChanged&) const = default;
};

// A node is to be given back, or (draining: false) stays after all.
struct NodeCordoned {
  std::string node;
  bool draining = true;
  std::string reason;
  std::optional<std::string> throttle;  // of moving its data away, as in ExtensionRequested
  bool operator==(const NodeCordoned&) const = default;
};

// What the batch system said when released nodes were given back to it while it keeps others of their job.
struct NodesReturned {
  std::string allocation;
  std::vector<std::string> nodes;
  std::string failure;  // empty: it has them again; else they stay in the job, idle, until that ends
  bool operator==(const NodesReturned&) const = default;
};

struct ClusterPlanned {
  ClusterPlan plan;
  bool operator==(const ClusterPlanned&) const = default;
};

struct ClusterReady {
  std::string framework;
  bool operator==(const ClusterReady&) const = default;
};

// The end of what a plan's ResizePlan::move began, or of a change of the plan that failed before.
struct DataMoved {
  std::string framework;
  std::string failure;  // empty: data are where they shall be
  bool operator==(const DataMoved&) const = default;
};

// What ClusterPlan::health found; noted when it changes.
struct ClusterChecked {
  std::string framework;
  std::string problem;  // empty: all is well
  bool operator==(const ClusterChecked&) const = default;
};

// A service's state as its node agent reports it.
struct ServiceChanged {
  std::string service;
  ServicePhase phase = ServicePhase::planned;
  ProcessIdentity process;  // of the running one
  int restarts = 0;         // within the restart policy's window
  std::string reason;       // why: "killed by signal 9; starting again in 0.5s"
  std::string log_tail;     // with `failed`: the last lines of its log
  bool operator==(const ServiceChanged&) const = default;
};

struct PilotPhaseChanged {
  PilotPhase phase = PilotPhase::submitted;
  std::string reason;
  bool operator==(const PilotPhaseChanged&) const = default;
};

// Something a person should see: a warning, what a command did.
struct Note {
  std::string text;
  bool operator==(const Note&) const = default;
};

using EventBody =
    std::variant<PilotCreated, AllocationSubmitted, AllocationChanged, HeadStarted, NodeRegistered,
                 NodeChanged, ClusterPlanned, ClusterReady, ServiceChanged, PilotPhaseChanged, Note,
                 ExtensionRequested, NodeCordoned, DataMoved, NodesReturned, ClusterChecked>;

struct Event {
  std::uint64_t sequence = 0;  // 1, 2, 3 ... without gaps
  WallTime at{};
  EventBody body;
  bool operator==(const Event&) const = default;
};

// "service_changed" ...: the name of the body's kind in the log and in JSON output.
std::string_view kind_of(const EventBody& body);

// "its clock is 5m ahead of that of the head's node"
std::string clock_warning(Duration ahead);

// One line for a person: "kafka/broker-2 ready (pid 4711)".
std::string describe(const EventBody& body);

}  // namespace pilot::model
