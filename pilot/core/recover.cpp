#include "pilot/core/recover.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pilot/model/states.hpp"

namespace pilot::core {
namespace {

constexpr auto at_once = std::chrono::seconds(5);
constexpr auto by_themselves = std::chrono::seconds(30);  // the first in line waits half of it

Result<void> check_recoverable(const RunningPilot& pilot) {
  const auto& name = pilot.folder().name();
  if (model::is_final(pilot.state().phase))
    return make_error(ErrorCode::failed, fmt::format("pilot '{}' is {}; there is nothing to recover", name,
                                                     model::to_string(pilot.state().phase)));
  if (const auto over = pilot.over_because(); !over.empty())
    return make_error(ErrorCode::failed, fmt::format("pilot '{}' can't be recovered: {}", name, over),
                      fmt::format("'pilot stop {}' cleans up", name));
  return ok();
}

// Agents of all nodes that may still be there; returns what went wrong.
std::vector<std::string> launch_agents(const RunningPilot& pilot) {
  std::vector<std::string> failures;
  for (const auto& [name, allocation] : pilot.state().allocations) {
    if (allocation.phase == model::AllocationPhase::ended) continue;
    for (int rank = 0; rank < allocation.nodes; ++rank) {
      const auto node = fmt::format("node-{}", allocation.first_node + rank);
      const auto known = pilot.state().nodes.find(node);
      if (known != pilot.state().nodes.end() && known->second.phase == model::NodePhase::released) continue;
      if (auto launched = pilot.launch_agent({name, rank}); launched.has_error())
        failures.push_back(fmt::format("{}: {}", node, launched.error().message));
    }
  }
  return failures;
}

Recovery recovery_of(const model::PilotState& state, bool was_needed) {
  if (!state.head) return {was_needed, {}, 0};
  return {was_needed, state.head->node.value_or(""), state.head->start};
}

}  // namespace

Result<Recovery> recover_pilot(const Context& context, RunningPilot& pilot, Duration timeout) {
  PILOT_TRY_VOID(check_recoverable(pilot));
  if (pilot.ask(model::GetStatus{}, at_once).has_value()) return recovery_of(pilot.state(), false);
  const Deadline deadline(*context.clock, timeout);
  context.observer->note("the head agent does not answer; waiting for a node to take its place");
  PILOT_TRY(bool answers, pilot.head_answers_within(std::min<Duration>(by_themselves, timeout)));
  std::vector<std::string> failures;
  if (!answers && !context.observer->interrupted()) {
    context.observer->note("no node has taken its place; starting their agents again");
    failures = launch_agents(pilot);
    PILOT_TRY(answers, pilot.head_answers_within(deadline.left()));
  }
  if (answers) return recovery_of(pilot.state(), true);
  if (context.observer->interrupted())
    return make_error(ErrorCode::timed_out, "interrupted; the nodes go on by themselves");
  return make_error(
      ErrorCode::unavailable,
      fmt::format("no node of '{}' brings up a head agent within {}{}{}", pilot.folder().name(),
                  format_duration(timeout), failures.empty() ? "" : ": ", fmt::join(failures, "; ")),
      fmt::format("'pilot stop {} --force' gives it up", pilot.folder().name()));
}

}  // namespace pilot::core
