// For tests: two nodes for a pilot 'demo'.
#pragma once

#include "pilot/plugin/batch_adaptor.hpp"

namespace pilot::adaptors::slurm::test {

inline plugin::AllocationRequest request() {
  plugin::AllocationRequest made;
  made.pilot_id = "0123";
  made.allocation = "a0";
  made.nodes = 2;
  made.spec.name = "demo";
  made.pilot_dir = "/home/u/pilots/demo";
  made.agent_program = "/opt/bin/pilot-agent";
  return made;
}

}  // namespace pilot::adaptors::slurm::test
