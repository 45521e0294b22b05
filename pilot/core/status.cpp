#include "pilot/core/status.hpp"

#include <fmt/format.h>

#include "pilot/core/programs.hpp"
#include "pilot/proc/identity.hpp"

namespace pilot::core {
namespace {

constexpr auto answer_within = std::chrono::seconds(3);
constexpr auto start_within = std::chrono::seconds(10);

// What follows from an allocation that is over, for those who look at the state: nothing of it runs.
model::PilotState without_allocation(model::PilotState state, const std::string& reason) {
  for (auto& [id, allocation] : state.allocations) {
    allocation.phase = model::AllocationPhase::ended;
    allocation.reason = reason;
  }
  for (auto& [id, node] : state.nodes) {
    node.phase = model::NodePhase::lost;
    node.reason = reason;
  }
  for (auto& [framework, cluster] : state.clusters) {
    for (auto& [id, service] : cluster.services) {
      service.phase = model::ServicePhase::stopped;
      service.process = {};
      service.reason = reason;
    }
  }
  return state;
}

PilotView over_view(const RunningPilot& pilot, const std::string& over) {
  return {
      without_allocation(pilot.state(), over), false,
      fmt::format("{}; nothing of it runs any more, 'pilot stop {}' cleans up", over, pilot.folder().name())};
}

// There is no head yet, and nothing wrong with that: the batch system has said all there is to say.
bool waits_in_queue(RunningPilot& pilot) {
  const auto status = pilot.follow_queue();
  return status.has_value() && status.value().phase == model::AllocationPhase::pending &&
         pilot.state().nodes.empty();  // else it was requeued
}

// Nothing of the job moves, the head agent neither, if it runs there.
void show_suspended(PilotView& view, const plugin::AllocationStatus& job) {
  auto& base = view.state.allocations["a0"];
  base.phase = model::AllocationPhase::suspended;
  base.reason = job.reason;
  view.note =
      fmt::format("its job {} is suspended by the batch system: {}; the pilot goes on when that is resumed",
                  job.job_id, job.reason);
}

}  // namespace

Result<PilotView> view_pilot(const Context& context, const std::string& name) {
  PILOT_TRY(RunningPilot pilot, RunningPilot::open(context, name));
  PilotView view{pilot.state(), false, {}, {}};
  if (model::is_final(pilot.state().phase)) {
    view.note =
        fmt::format("it has {}", pilot.state().phase == model::PilotPhase::failed ? "failed" : "stopped");
    return view;
  }
  if (const auto over = pilot.over_because(); !over.empty()) return over_view(pilot, over);
  auto answer = pilot.ask(model::GetStatus{}, answer_within);
  if (!answer.has_value()) {
    if (waits_in_queue(pilot)) return PilotView{pilot.state(), true, {}, {}};
    if (const auto over = pilot.over_because(); !over.empty()) return over_view(pilot, over);
    if (const auto job = pilot.poll_allocation();
        job.has_value() && job.value().phase == model::AllocationPhase::suspended) {
      show_suspended(view, job.value());
      return view;
    }
    if (auto ensured = pilot.ensure_head(start_within); ensured.has_value()) {
      answer = pilot.ask(model::GetStatus{}, answer_within);
    } else {
      view.note = ensured.error().text();
    }
  }
  if (answer.has_value()) {
    if (auto* status = std::get_if<model::Status>(&answer.value())) {
      view.state = std::move(status->state);
      view.departures = std::move(status->departures).value_or(std::map<std::string, model::Departure>{});
      view.live = true;
      view.note.clear();
    }
  } else if (view.note.empty()) {
    view.note = answer.error().text();
  }
  return view;
}

std::vector<ListedPilot> list_pilots(const Context& context) {
  std::vector<ListedPilot> listed;
  for (const std::string& name : store::PilotFolder::names()) {
    ListedPilot one{name, {}, false, {}};
    auto pilot = RunningPilot::open(context, name);
    if (!pilot.has_value()) {
      one.problem = pilot.error().message;
      listed.push_back(std::move(one));
      continue;
    }
    one.state = pilot.value().state();
    const auto& head = one.state.head;
    one.head_alive = head && (head->host != host_name() || proc::is_alive(head->process));
    if (!model::is_final(one.state.phase)) one.problem = pilot.value().over_because();
    if (one.problem.empty() && head && !one.head_alive && !model::is_final(one.state.phase))
      one.problem = "its head agent does not run";
    listed.push_back(std::move(one));
  }
  return listed;
}

}  // namespace pilot::core
