// What the head decided upon one input, in the order in which it has to be done: the events are on disk
// before a message is sent, the messages are sent before the effects begin.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pilot/model/event.hpp"
#include "pilot/model/message.hpp"
#include "pilot/model/node.hpp"
#include "pilot/model/pilot_spec.hpp"

namespace pilot::agent {

struct Outgoing {
  std::string peer;  // a net::PeerId
  model::Message message;
};

// Ask the framework's adaptor for a plan; answered by HeadCore::planned().  The ports that other
// clusters use are taken out of the nodes' free ports.
struct PlanCluster {
  model::FrameworkSpec framework;
  std::vector<model::NodeInfo> nodes;
  std::optional<model::ClusterPlan> current;  // with the other two: when it changes
  std::vector<std::string> draining;
  bool move = true;
  std::string throttle;             // of moving data; empty: the framework's own choice
  bool as_far_as_possible = false;  // draining nodes go even if not all that they hold finds a place
};

// Make keys for the nodes of an extension and let them in; answered by HeadCore::admitted().
struct AdmitNodes {
  int first_node = 0;
  int nodes = 0;
};

// Ask for a plan as PlanCluster does and run its ResizePlan::check, which changes nothing; answered by
// HeadCore::move_checked().
struct CheckMove {
  PlanCluster plan;
};

// Run a plan's ResizePlan::move to its end; answered by HeadCore::moved().
struct MoveData {
  std::string framework;
  model::Command command;
};

// Have the command of MoveData end soon, with what is half done cancelled; answered by HeadCore::moved() as
// well.
struct StopMoving {
  std::string framework;
};

// Run a plan's ResizePlan::retire of a node; answered by HeadCore::retired().
struct RetireNode {
  std::string framework;
  std::string node;
  model::Command command;
};

// Give an allocation back to the batch system; answered by HeadCore::given_back().
struct GiveBack {
  std::string allocation;
};

// Some nodes of an allocation that keeps the others; by their ranks.
struct PartOfAllocation {
  std::string allocation;
  std::vector<int> ranks;
  bool again = false;  // nodes of it were given back before
};

// Ask the batch system's adaptor whether that can be given back; answered by HeadCore::release_checked().
struct CheckRelease {
  std::vector<PartOfAllocation> parts;
};

// Give it back; answered by HeadCore::nodes_returned().
struct ReturnNodes {
  PartOfAllocation part;
};

// Have the batch system make nodes part of the base's job, which `asked` (may be empty) asks for; answered by
// HeadCore::grown().
struct GrowBase {
  std::string allocation;
  std::string asked;
};

// Ask the batch system about an allocation's job; answered by HeadCore::job_seen().
struct LookAtJob {
  std::string allocation;
};

// Probe until it answers or its deadline passes; answered by HeadCore::probed().
struct ProbeCluster {
  std::string framework;
  model::Readiness readiness;
};

// Write what users of the cluster need; answered by HeadCore::client_files_written().
struct WriteClientFiles {
  std::string framework;
  std::vector<model::FileSpec> files;
};

// Have the batch system start a node's agent again; answered by HeadCore::launched().
struct LaunchAgent {
  std::string node;
  std::string allocation;
  int rank = 0;
};

// All is done: end with success.
struct Finish {};

// What ClusterPlan::health says.
struct DataReport {
  std::string problem;                // empty: none
  std::map<std::string, Bytes> held;  // by service; those of whom nothing is known are left out
};

// Ask a cluster's own command how its data are; HeadCore::checked() gets what it says.
struct CheckCluster {
  std::string framework;
  model::Command command;
};

// Look for the job of an allocation whose submitter did not say which it is; answered by
// HeadCore::job_found().
struct FindJob {
  std::string allocation;
};

using Effect = std::variant<FindJob, PlanCluster, CheckMove, ProbeCluster, WriteClientFiles, LaunchAgent,
                            AdmitNodes, MoveData, StopMoving, RetireNode, GiveBack, CheckRelease, ReturnNodes,
                            GrowBase, LookAtJob, CheckCluster, Finish>;

struct HeadOutput {
  std::vector<model::EventBody> events;
  std::vector<Outgoing> messages;
  std::vector<Effect> effects;
};

}  // namespace pilot::agent
