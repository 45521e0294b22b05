// The program `pilot-agent`.  Its verbs are for batch adaptors and node agents, not for people:
//   pilot-agent head --pilot-dir D [--address A] [--port P]
//   pilot-agent node --pilot-dir D --allocation A --rank R --node node-N --address A --cores C
//                    --memory BYTES --scratch PATH [--reservation-fd N]
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "pilot/agent/head_agent.hpp"
#include "pilot/agent/node_agent.hpp"

namespace pilot::agent {

// Errors: usage, naming the flag.
Result<std::variant<HeadOptions, NodeOptions>> parse_agent_arguments(
    const std::vector<std::string>& arguments);

// Runs an agent until it ends; the exit code.  `arguments` without the program's name.
int run_agent_program(const std::vector<std::string>& arguments, plugin::Registry& registry,
                      SoftwareLocator locate);

// The switch of a node that the batch system calls "top.leaf.node" (PILOT_TOPOLOGY in the environment of its
// agent): "top.leaf"; empty when it names no switch.
std::string rack_of(std::string_view topology);

}  // namespace pilot::agent
