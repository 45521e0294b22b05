// What agents and clients say to each other.  On the wire: one JSON envelope per ZeroMQ message,
//   {"v": 1, "id": "...", "verb": "start_services", "body": {...}}
// where an answer carries the id of its request.  v is raised when a verb changes its meaning; a
// receiver refuses a version that it does not know, naming both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pilot/base/error.hpp"
#include "pilot/model/event.hpp"
#include "pilot/model/node.hpp"
#include "pilot/model/pilot_state.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::model {

inline constexpr int protocol_version = 1;

// node agent -> head: the first message, and again whenever the head does not know the node (it was
// restarted, or the node was thought lost).  `services` is what it runs now, adopted or its own.
struct RegisterNode {
  NodeInfo node;
  std::vector<ServiceChanged> services;
  std::optional<Duration> age;    // since it joined the pilot first, by its own steady clock
  std::optional<WallTime> clock;  // its wall clock, to be compared and not to be relied on
  bool operator==(const RegisterNode&) const = default;
};

// head -> node agent: the node is known now.  Services that run there and are not named are stopped.
struct NodeAccepted {
  std::vector<std::string> services;  // ids that the head wants on this node
  bool operator==(const NodeAccepted&) const = default;
};

// node agent -> head, each heartbeat interval.
struct Heartbeat {
  std::string node;
  bool operator==(const Heartbeat&) const = default;
};

// head -> node agent: I don't know you; register (again).
struct RegisterAgain {
  bool operator==(const RegisterAgain&) const = default;
};

// node agent -> head, at each change; kept and sent again until the head has acknowledged it.
struct ServiceReport {
  std::string node;
  std::uint64_t number = 0;  // 1, 2, 3 ... per node agent
  ServiceChanged change;
  bool operator==(const ServiceReport&) const = default;
};

// head -> node agent: reports up to `number` are in the event log.
struct ReportsStored {
  std::uint64_t number = 0;
  bool operator==(const ReportsStored&) const = default;
};

// head -> node agent.  Starting what runs already, and stopping what does not, are done already.
struct StartServices {
  std::vector<ServiceSpec> services;
  bool operator==(const StartServices&) const = default;
};
struct StopServices {
  std::vector<std::string> services;
  bool operator==(const StopServices&) const = default;
};

// head -> node agent: remove your scratch folder and end; all services are stopped.
struct ReleaseNode {
  bool operator==(const ReleaseNode&) const = default;
};
// node agent -> head: done; I end now.  `left` names what could not be removed or ended.
struct NodeReleased {
  std::string node;
  std::vector<std::string> left;
  bool operator==(const NodeReleased&) const = default;
};

// client -> head.
struct GetStatus {
  bool operator==(const GetStatus&) const = default;
};
struct StopPilot {
  std::string reason;
  bool operator==(const StopPilot&) const = default;
};

// client -> head: more nodes.  The head answers with ExtensionPlanned; the client then asks the batch
// system for them and says how that went.
struct ExtendPilot {
  int nodes = 0;
  std::optional<Duration> walltime;
  bool move = true;
  bool in_place = false;                // they become part of the base's job
  std::optional<std::string> throttle;  // as in ExtensionRequested
  bool operator==(const ExtendPilot&) const = default;
};
struct ExtensionSubmitted {
  std::string allocation, job_id;
  bool operator==(const ExtensionSubmitted&) const = default;
};
struct ExtensionRefused {
  std::string allocation, reason;
  bool operator==(const ExtensionRefused&) const = default;
};
// client -> head: give these nodes back, or so many of the head's choice.  Answered by ShrinkPlanned.
struct ShrinkPilot {
  std::vector<std::string> nodes;
  int count = 0;
  std::optional<std::string> throttle;
  bool operator==(const ShrinkPilot&) const = default;
};

// head -> client.
struct ExtensionPlanned {
  std::string allocation;
  int first_node = 0;
  bool operator==(const ExtensionPlanned&) const = default;
};
struct ShrinkPlanned {
  std::vector<std::string> nodes;
  bool operator==(const ShrinkPlanned&) const = default;
};
// When an extension will be given back by itself, and what follows that from.
struct Departure {
  Duration lead{};   // so long before its end
  Bytes held;        // what has to move by then
  Bytes per_second;  // how fast the last move was, or is supposed to be
  bool operator==(const Departure&) const = default;
};
struct Status {
  PilotState state;
  std::optional<std::map<std::string, Departure>> departures;  // by allocation
  bool operator==(const Status&) const = default;
};
struct Accepted {
  bool operator==(const Accepted&) const = default;
};
struct Refused {
  Error error;
  bool operator==(const Refused& o) const {
    return error.message == o.error.message && error.code == o.error.code && error.hint == o.error.hint;
  }
};

using MessageBody =
    std::variant<RegisterNode, NodeAccepted, Heartbeat, RegisterAgain, ServiceReport, ReportsStored,
                 StartServices, StopServices, ReleaseNode, NodeReleased, GetStatus, StopPilot, Status,
                 Accepted, Refused, ExtendPilot, ExtensionSubmitted, ExtensionRefused, ShrinkPilot,
                 ExtensionPlanned, ShrinkPlanned>;

struct Message {
  std::string id;  // of the request, repeated in its answer; may be empty where no answer is expected
  MessageBody body;
  bool operator==(const Message&) const = default;
};

}  // namespace pilot::model
