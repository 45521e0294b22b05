#include "pilot/core/dry_run.hpp"

#include <fmt/format.h>

#include "pilot/core/programs.hpp"
#include "pilot/core/software.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::core {
namespace {

constexpr const char* example_id = "00000000000000000000000000000000";
constexpr int ports_per_node = 16;

std::vector<model::NodeInfo> example_nodes(const model::PilotSpec& spec) {
  std::vector<model::NodeInfo> nodes;
  for (int rank = 0; rank < spec.nodes; ++rank) {
    model::NodeInfo node;
    node.id = fmt::format("node-{}", rank + 1);
    node.allocation = "a0";
    node.rank = rank;
    node.host = spec.resource == "local" ? "host" : fmt::format("host-{}", rank + 1);
    node.address = spec.nodes == 1 ? "127.0.0.1" : fmt::format("192.0.2.{}", rank % 254 + 1);  // RFC 5737
    node.cores = spec.cores_per_node == 0 ? 1 : spec.cores_per_node;
    node.memory = spec.memory_per_node.count == 0 ? Bytes{std::uint64_t{2} << 30} : spec.memory_per_node;
    node.scratch = fmt::format("{}/{}", spec.scratch.empty() ? "/tmp" : spec.scratch, node.id);
    for (int i = 0; i < ports_per_node && spec.network.first_port + i <= spec.network.last_port; ++i)
      node.free_ports.push_back(static_cast<std::uint16_t>(spec.network.first_port + i));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

plugin::Software example_software(const plugin::FrameworkAdaptor& adaptor) {
  plugin::Software software;
  software.framework = adaptor.name();
  software.version = adaptor.install_recipe().version;
  software.home = install_folder(software_prefix(), adaptor.install_recipe());
  software.origin = "not installed";
  software.java = "java";
  return software;
}

}  // namespace

Result<DryRun> dry_run(const Context& context, const model::PilotSpec& spec) {
  DryRun result;
  const auto folder = store::pilot_home() / "pilots" / spec.name;
  plugin::AllocationRequest request{example_id, "a0", spec.nodes, 1, spec, folder, "pilot-agent"};
  if (const auto agent = find_program("pilot-agent"); agent.has_value())
    request.agent_program = agent.value();
  PILOT_TRY(plugin::BatchAdaptor * batch, context.registry->batch(spec.resource));
  PILOT_TRY(result.script, batch->render(request));
  for (const model::FrameworkSpec& framework : spec.frameworks) {
    PILOT_TRY(const plugin::FrameworkAdaptor* adaptor, context.registry->framework(framework.name));
    plugin::PlanInput input;
    input.spec = spec;
    input.framework = framework;
    input.pilot_id = example_id;
    input.nodes = example_nodes(spec);
    input.client_folder = folder / "client";
    input.log_folder = folder / "logs";
    input.tools_folder = program_folder();
    if (auto software = locate_software(*adaptor); software.has_value()) {
      input.software = std::move(software).value();
    } else {
      result.notes.push_back(software.error().text());
      input.software = example_software(*adaptor);
    }
    PILOT_TRY(model::ClusterPlan plan, adaptor->plan(input));
    result.plans.push_back(std::move(plan));
  }
  return result;
}

}  // namespace pilot::core
