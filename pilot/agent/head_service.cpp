#include "pilot/agent/head_service.hpp"

#include <limits>

#include "pilot/agent/head_core.hpp"
#include "pilot/agent/host.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/store/event_log.hpp"

namespace pilot::agent {

model::ServiceSpec head_service(const std::filesystem::path& agent_program, const store::PilotFolder& folder,
                                const std::string& node, const std::string& address, std::uint16_t port) {
  model::ServiceSpec spec;
  spec.id = head_service_id;
  spec.role = "head";
  spec.command.argv = {agent_program.string(),
                       "head",
                       "--pilot-dir",
                       folder.path().string(),
                       "--node",
                       node,
                       "--address",
                       address};
  if (port != 0) {
    spec.command.argv.push_back("--port");
    spec.command.argv.push_back(std::to_string(port));
  }
  spec.log = folder.log_folder() / "head.log";
  // It can be killed at any moment, and may be waiting for a tool of the batch system.
  spec.stop.grace = std::chrono::seconds(1);
  spec.restart.max_restarts = std::numeric_limits<int>::max();  // a pilot without a head is no use to anybody
  return spec;
}

ServiceContext head_context(const store::PilotFolder& folder, const std::string& pilot_id,
                            const std::string& node) {
  ServiceContext context;
  context.environment = service_environment(pilot_id, node, head_service_id);
  context.directory = folder.path();
  context.fill_in = [](std::string_view text) -> Result<std::string> { return std::string(text); };
  context.find_running = [folder]() -> std::optional<model::ProcessIdentity> {
    const auto endpoint = folder.endpoint();
    if (endpoint.has_error() || endpoint.value().host != host_name()) return std::nullopt;
    if (!proc::is_alive(endpoint.value().head)) return std::nullopt;
    return endpoint.value().head;
  };
  context.restart_wanted = [folder, node](const model::ExitStatus& status) {
    const auto endpoint = folder.endpoint();
    if (endpoint.has_value() && !endpoint.value().node.empty() && endpoint.value().node != node) return false;
    if (status.known) return !status.clean();
    const auto state = store::load_state(folder.path());
    return state.has_error() || !is_done(state.value());
  };
  return context;
}

}  // namespace pilot::agent
