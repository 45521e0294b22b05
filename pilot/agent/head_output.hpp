// What the head decided upon one input, in the order in which it has to be done: the events are on disk
// before a message is sent, the messages are sent before the effects begin.
#pragma once

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
  std::string job_id;
  int nodes = 0;  // of the allocation
  int rank = 0;
};

// All is done: end with success.
struct Finish {};

using Effect = std::variant<PlanCluster, ProbeCluster, WriteClientFiles, LaunchAgent, Finish>;

struct HeadOutput {
  std::vector<model::EventBody> events;
  std::vector<Outgoing> messages;
  std::vector<Effect> effects;
};

}  // namespace pilot::agent
