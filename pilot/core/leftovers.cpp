#include "pilot/core/leftovers.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <thread>

#include "pilot/core/context.hpp"
#include "pilot/proc/identity.hpp"

namespace pilot::core {
namespace {

constexpr Duration longest_grace = std::chrono::seconds(60);
constexpr Duration grace = std::chrono::seconds(3);

template <typename Condition>
bool eventually(const Clock& clock, Duration longest, const Condition& condition) {
  const Deadline deadline(clock, longest);
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(look_interval);
  }
  return true;
}

}  // namespace

std::vector<model::ProcessIdentity> living_processes(const model::PilotState& state) {
  std::vector<model::ProcessIdentity> living;
  for (const model::ProcessIdentity& process : state.processes)
    if (proc::is_alive(process)) living.push_back(process);
  // Services carry the first mark, node agents (and what they start) the second.
  for (const char* mark : {"PILOT_ID", "PILOT_AGENT_OF"})
    for (const model::ProcessIdentity& process : proc::processes_with_environment({{mark, state.id}}))
      if (std::find(living.begin(), living.end(), process) == living.end()) living.push_back(process);
  return living;
}

void end_agents_directly(const model::PilotState& state) {
  if (state.head) proc::send_signal(state.head->process, SIGKILL);
  for (const auto& [id, node] : state.nodes) proc::send_signal(node.info.agent, SIGKILL);
  // Agents that came after the log's last entry: they carry the second mark, and not the services' one.
  const auto services = proc::processes_with_environment({{"PILOT_ID", state.id}});
  for (const model::ProcessIdentity& process :
       proc::processes_with_environment({{"PILOT_AGENT_OF", state.id}}))
    if (std::find(services.begin(), services.end(), process) == services.end())
      proc::send_signal(process, SIGKILL);
}

void stop_services_directly(const Clock& clock, const model::PilotState& state) {
  struct Running {
    model::ProcessIdentity process;
    model::StopPolicy policy;
  };
  std::map<int, std::vector<Running>, std::greater<>> stages;
  for (const auto& [framework, cluster] : state.clusters) {
    for (const model::ServiceSpec& service : cluster.plan.services) {
      const auto found = cluster.services.find(service.id);
      if (found != cluster.services.end() && proc::is_alive(found->second.process))
        stages[service.stage].push_back({found->second.process, service.stop});
    }
  }
  for (const auto& [stage, services] : stages) {
    Duration longest{0};
    for (const Running& running : services) {
      proc::send_signal(running.process, running.policy.signal);
      longest = std::max(longest, std::min(running.policy.grace, longest_grace));
    }
    eventually(clock, longest, [&] {
      return std::none_of(services.begin(), services.end(),
                          [](const Running& running) { return proc::is_alive(running.process); });
    });
    for (const Running& running : services) proc::send_signal_to_group(running.process, SIGKILL);
  }
}

EndedLeftovers end_leftovers(const Clock& clock, const model::PilotState& state, Duration patience) {
  EndedLeftovers result;
  const auto none = [&] { return living_processes(state).empty(); };
  if (eventually(clock, patience, none)) return result;
  const auto signal_all = [&](int signal) {
    const auto living = living_processes(state);
    result.ended = std::max(result.ended, static_cast<int>(living.size()));
    for (const model::ProcessIdentity& process : living) proc::send_signal(process, signal);
  };
  signal_all(SIGTERM);
  if (!eventually(clock, grace, none)) {
    signal_all(SIGKILL);
    eventually(clock, grace, none);
  }
  result.left = living_processes(state);
  return result;
}

}  // namespace pilot::core
