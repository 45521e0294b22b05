#include "pilot/core/stop.hpp"

#include <fmt/format.h>

#include <thread>

#include "pilot/core/leftovers.hpp"
#include "pilot/store/event_log.hpp"

namespace pilot::core {
namespace {

constexpr auto head_timeout = std::chrono::seconds(15);
constexpr auto longest_silence = std::chrono::seconds(90);  // without an event: the head is stuck
constexpr auto agents_patience = std::chrono::seconds(10);

// Follows the log until the pilot has ended.  False: the head does not get on.
Result<bool> follow_to_the_end(const Context& context, RunningPilot& pilot) {
  std::uint64_t seen = pilot.state().last_sequence;
  Deadline silence(*context.clock, longest_silence);
  Deadline next_check(*context.clock, std::chrono::seconds(3));
  while (!model::is_final(pilot.state().phase)) {
    PILOT_TRY_VOID(pilot.follow());
    if (pilot.state().last_sequence != seen) {
      seen = pilot.state().last_sequence;
      silence = Deadline(*context.clock, longest_silence);
    }
    if (silence.passed() || context.observer->interrupted()) return false;
    if (next_check.passed()) {
      if (!pilot.ensure_head(head_timeout).has_value() && !model::is_final(pilot.state().phase)) return false;
      next_check = Deadline(*context.clock, std::chrono::seconds(3));
    }
    context.observer->waiting(pilot.state());
    std::this_thread::sleep_for(look_interval);
  }
  return true;
}

// True when the head agent brought the pilot to its end.
Result<bool> stop_by_head(const Context& context, RunningPilot& pilot, bool queued) {
  auto asked = pilot.ask(model::StopPilot{"pilot stop"}, std::chrono::seconds(3));
  if (asked.has_error() && queued) return false;  // it never had a head
  if (!asked.has_value()) {
    context.observer->note("the head agent does not answer; starting it again");
    if (auto ensured = pilot.ensure_head(head_timeout); !ensured.has_value()) {
      context.observer->note(ensured.error().message + "; stopping without it");
      return false;
    }
    asked = pilot.ask(model::StopPilot{"pilot stop"}, std::chrono::seconds(5));
    if (!asked.has_value()) return false;
  }
  return follow_to_the_end(context, pilot);
}

Error left_over(const std::vector<model::ProcessIdentity>& left) {
  std::vector<pid_t> pids;
  for (const model::ProcessIdentity& process : left) pids.push_back(process.pid);
  return make_error(
      ErrorCode::partial,
      fmt::format("{} processes could not be ended: pid {}", left.size(), fmt::join(pids, ", ")),
      "repeat the command");
}

Result<void> cancel_allocations(const Context& context, const RunningPilot& pilot) {
  PILOT_TRY(plugin::BatchAdaptor * adaptor, context.registry->batch(pilot.state().spec.resource));
  for (const auto& [id, allocation] : pilot.state().allocations) {
    if (allocation.job_id.empty() && allocation.phase == model::AllocationPhase::ended) continue;  // refused
    PILOT_TRY(const plugin::AllocationRequest request, pilot.request(id));
    if (auto cancelled = adaptor->cancel(request, allocation.job_id); !cancelled.has_value())
      return cancelled.error().while_doing(fmt::format("ending allocation {}", id));
  }
  return ok();
}

// The log's last entry, when no head could write it.
Result<void> record_the_end(const Context& context, RunningPilot& pilot, const std::string& reason) {
  if (model::is_final(pilot.state().phase)) return ok();
  PILOT_TRY(store::EventLog log, store::EventLog::open(pilot.folder().path(), *context.clock));
  PILOT_TRY_VOID(log.append(model::PilotPhaseChanged{model::PilotPhase::stopped, reason}));
  return pilot.follow();
}

// Scratch folders of nodes that never said that they have left.
std::vector<std::string> not_released(const model::PilotState& state, const std::string& allocation = "") {
  std::vector<std::string> folders;
  for (const auto& [id, node] : state.nodes) {
    const bool meant = allocation.empty() || node.info.allocation == allocation;
    if (meant && node.phase != model::NodePhase::released && !node.info.scratch.empty())
      folders.push_back(fmt::format("{}:{}", node.info.host, node.info.scratch));
  }
  return folders;
}

// A batch system kills a suspended job without waking it: its agents can't clean up.
std::string left_by_suspended(const model::PilotState& state, const plugin::AllocationStatus& job) {
  return fmt::format(
      "its job {} was suspended ({}) and ended without a chance to clean up: {} may be there still",
      job.job_id, job.reason, fmt::join(not_released(state, "a0"), ", "));
}

// Nodes that the head agent gave up on.
std::string left_by_unreached(const model::PilotState& state) {
  const auto folders = not_released(state);
  if (folders.empty()) return {};
  return fmt::format("not all of its nodes could be reached: {} may be there still",
                     fmt::join(folders, ", "));
}

// Ends processes and allocations; `report` says what had to be done.
Result<void> clean_up(const Context& context, RunningPilot& pilot, StopReport& report) {
  const Duration patience = report.by_head ? Duration(agents_patience) : Duration{0};
  const EndedLeftovers leftovers = end_leftovers(*context.clock, pilot.state(), patience);
  report.leftovers_ended = leftovers.ended;
  if (!leftovers.left.empty()) return left_over(leftovers.left);
  return cancel_allocations(context, pilot);
}

}  // namespace

Result<StopReport> stop_pilot(const Context& context, const std::string& name, const StopOptions& options) {
  PILOT_TRY(RunningPilot pilot, RunningPilot::open(context, name));
  StopReport report;
  report.note = pilot.over_because();
  report.by_head = model::is_final(pilot.state().phase);
  if (!report.by_head && report.note.empty()) {
    PILOT_TRY(const plugin::AllocationStatus status, pilot.poll_allocation());
    const bool elsewhere = status.phase == model::AllocationPhase::unknown && !status.reason.empty() &&
                           !pilot.state().allocations.empty();
    // A batch system that is away says nothing; as long as the head answers it knows what to stop.
    if (elsewhere && !options.force && !pilot.ask(model::GetStatus{}, std::chrono::seconds(3)).has_value())
      return make_error(ErrorCode::unavailable, fmt::format("cannot stop '{}': {}", name, status.reason),
                        "stop it there, or give it up with --force");
    PILOT_TRY(report.by_head, stop_by_head(context, pilot, status.phase == model::AllocationPhase::pending));
    if (const auto now = pilot.poll_allocation();
        !report.by_head && now.has_value() && now.value().phase == model::AllocationPhase::suspended)
      report.left = left_by_suspended(pilot.state(), now.value());
    if (report.by_head) report.left = left_by_unreached(pilot.state());
    if (context.observer->interrupted())
      return make_error(ErrorCode::failed, fmt::format("stopping '{}' goes on without this command", name),
                        fmt::format("'pilot wait {} --for stopped' follows it", name));
  }
  if (!report.by_head) {
    PILOT_TRY_VOID(pilot.follow());
    end_agents_directly(pilot.state());
    stop_services_directly(*context.clock, pilot.state());
  }
  if (auto cleaned = clean_up(context, pilot, report); !cleaned.has_value() && !options.force)
    return cleaned.error();
  PILOT_TRY_VOID(
      record_the_end(context, pilot, report.note.empty() ? "stopped without its head agent" : report.note));
  report.state = pilot.state();
  PILOT_TRY_VOID(pilot.folder().archive(report.state.id));
  return report;
}

}  // namespace pilot::core
