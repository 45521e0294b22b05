// Nodes, software and paths that the adaptor's tests plan for.
#pragma once

#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::adaptors::kafka::testing {

inline model::NodeInfo node(int number, Bytes memory = Bytes{4ULL << 30},
                            std::vector<std::uint16_t> ports = {20000, 20001, 20002}) {
  model::NodeInfo node;
  node.id = "node-" + std::to_string(number);
  node.allocation = "a0";
  node.rank = number - 1;
  node.address = "127.77.0." + std::to_string(number);
  node.cores = 4;
  node.memory = memory;
  node.scratch = "/scratch/p/" + node.id;
  node.free_ports = std::move(ports);
  return node;
}

inline plugin::PlanInput input(int nodes) {
  plugin::PlanInput input;
  input.spec.name = "demo";
  input.spec.nodes = nodes;
  input.framework.name = "kafka";
  input.pilot_id = "00112233445566778899aabbccddeeff";
  for (int number = 1; number <= nodes; ++number) input.nodes.push_back(node(number));
  input.software = {"kafka",
                    "4.3.1",
                    "/sw/kafka-4.3.1",
                    "installed",
                    "/usr/bin/java",
                    {{"classpath", "/sw/kafka-4.3.1/libs/*"},
                     {"template", "/sw/kafka-4.3.1/template/bootstrap.checkpoint"},
                     {"cds.broker", "/sw/kafka-4.3.1/cds/broker.jsa"},
                     {"cds.controller", "/sw/kafka-4.3.1/cds/controller.jsa"}}};
  input.client_folder = "/pilots/demo/client";
  input.log_folder = "/pilots/demo/logs";
  input.tools_folder = "/opt/pilot/bin";
  return input;
}

}  // namespace pilot::adaptors::kafka::testing
