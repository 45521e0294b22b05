#include "pilot/core/running_pilot.hpp"

#include <fmt/format.h>

#include <thread>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/core/programs.hpp"
#include "pilot/net/control_client.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/mailbox.hpp"

namespace pilot::core {
namespace {

constexpr auto first_answer = std::chrono::seconds(2);

}  // namespace

Result<RunningPilot> RunningPilot::open(const Context& context, const std::string& name) {
  PILOT_TRY(store::PilotFolder folder, store::PilotFolder::open(name));
  RunningPilot pilot(context, std::move(folder));
  PILOT_TRY(store::LogContent content, store::read_event_log(pilot.folder_.path() / "events.jsonl"));
  pilot.state_ = model::fold(content.events);
  pilot.read_bytes_ = content.complete_bytes;
  return pilot;
}

Result<void> RunningPilot::follow() {
  PILOT_TRY(const store::LogContent content,
            store::read_event_log(folder_.path() / "events.jsonl", read_bytes_));
  read_bytes_ = content.complete_bytes;
  for (const model::Event& event : content.events) {
    model::apply(state_, event);
    context_.observer->event(event, state_);
  }
  return ok();
}

Result<plugin::AllocationRequest> RunningPilot::request(const std::string& allocation) const {
  PILOT_TRY(const auto agent, find_program("pilot-agent"));
  return plugin::request_for(state_, allocation, folder_.path(), agent);
}

Result<plugin::AllocationStatus> RunningPilot::poll_allocation(const std::string& allocation) const {
  PILOT_TRY(plugin::BatchAdaptor * adaptor, context_.registry->batch(state_.spec.resource));
  PILOT_TRY(const plugin::AllocationRequest wanted, request(allocation));
  const auto found = state_.allocations.find(allocation);
  if (found == state_.allocations.end()) return plugin::AllocationStatus{};
  PILOT_TRY(const auto statuses, adaptor->poll(wanted, {found->second.job_id}));
  return statuses.empty() ? plugin::AllocationStatus{} : statuses.front();
}

Result<plugin::AllocationStatus> RunningPilot::follow_queue(const std::string& allocation) {
  PILOT_TRY(auto status, poll_allocation(allocation));
  const auto found = state_.allocations.find(allocation);
  if (found == state_.allocations.end() || status.phase == model::AllocationPhase::ended) return status;
  const bool waits = found->second.phase == model::AllocationPhase::pending;
  const bool answers = status.phase != model::AllocationPhase::unknown;
  if (!waits || (found->second.reason == status.reason && (!answers || found->second.phase == status.phase)))
    return status;
  // As the head would log it, but there is none before the nodes are.
  const auto phase = answers ? status.phase : found->second.phase;
  found->second.phase = phase;
  found->second.reason = status.reason;
  if (phase == model::AllocationPhase::pending)
    context_.observer->event({state_.last_sequence, context_.clock->wall(),
                              model::AllocationChanged{allocation, phase, status.reason}},
                             state_);
  return status;
}

std::string RunningPilot::over_because() const {
  const auto status = poll_allocation();
  if (!status.has_value() || status.value().phase != model::AllocationPhase::ended) return {};
  return status.value().reason.empty() ? "the allocation has ended" : status.value().reason;
}

bool RunningPilot::head_may_live(const store::Endpoint& endpoint) const {
  if (endpoint.address.empty()) return false;
  return endpoint.host != host_name() || proc::is_alive(endpoint.head);
}

Result<model::MessageBody> RunningPilot::ask(model::MessageBody body, Duration timeout) const {
  PILOT_TRY(const store::Endpoint endpoint, folder_.endpoint());
  if (!head_may_live(endpoint))
    return make_error(ErrorCode::unavailable,
                      fmt::format("the head agent of '{}' does not run", folder_.name()));
  const model::Message message{random_hex(8), std::move(body)};
  PILOT_TRY(const std::string text, deliver(endpoint, message.id, codec::encode(message), timeout));
  PILOT_TRY(model::Message answer, codec::decode_message(text));
  if (const auto* refused = std::get_if<model::Refused>(&answer.body)) return refused->error;
  return std::move(answer.body);
}

Result<std::string> RunningPilot::deliver(const store::Endpoint& endpoint, const std::string& id,
                                          const std::string& text, Duration timeout) const {
  PILOT_TRY(const net::CurveKeyPair head, folder_.keys("head"));
  PILOT_TRY(const net::CurveKeyPair own, folder_.keys("client"));
  Result<std::string> answer = make_error(ErrorCode::unavailable, "the network does not lead to it");
  if (!by_folder_) answer = net::ask(endpoint.address, head.public_key, own, text, timeout);
  if (answer.has_value() || endpoint.host == host_name()) return answer;
  auto written = store::Mailbox(folder_.mail_folder()).ask(*context_.clock, id, text, {.answered = timeout});
  if (by_folder_) return written;
  if (written.has_error()) return answer;
  by_folder_ = true;
  context_.observer->note(
      fmt::format("the network does not lead to the head agent at {}; commands go through the pilot's folder",
                  endpoint.address));
  return written;
}

Result<void> RunningPilot::ensure_head(Duration timeout) {
  if (ask(model::GetStatus{}, first_answer).has_value()) return ok();
  const auto unavailable = [&](const std::string& why) {
    return make_error(ErrorCode::unavailable,
                      fmt::format("the head agent of '{}' does not answer{}", folder_.name(), why),
                      fmt::format("'pilot logs {} head' shows its log", folder_.name()));
  };
  if (!state_.allocations.contains("a0")) return unavailable(": no allocation was submitted");
  if (auto launched = launch_agent(keeper_of_head()); launched.has_error())
    return unavailable(" and can't be started again: " + launched.error().message);
  PILOT_TRY(const bool answers, head_answers_within(timeout));
  if (answers) return ok();
  // The commonest cause on a cluster: the user's quota is used up, so that nobody can write the event log.
  const auto writable = folder_.check_writable();
  return unavailable(writable.has_error() ? ": " + writable.error().message : "");
}

Result<bool> RunningPilot::head_answers_within(Duration timeout) {
  const Deadline deadline(*context_.clock, timeout);
  while (!deadline.passed() && !context_.observer->interrupted()) {
    PILOT_TRY_VOID(follow());
    if (ask(model::GetStatus{}, first_answer).has_value()) {
      PILOT_TRY_VOID(follow());
      return true;
    }
    context_.observer->waiting(state_);
    std::this_thread::sleep_for(look_interval);
  }
  return false;
}

RunningPilot::AgentPlace RunningPilot::keeper_of_head() const {
  const auto node = state_.head ? state_.nodes.find(state_.head->node.value_or("")) : state_.nodes.end();
  if (node == state_.nodes.end()) return {};
  return {node->second.info.allocation, node->second.info.rank};
}

Result<void> RunningPilot::launch_agent(const AgentPlace& place) const {
  const auto allocation = state_.allocations.find(place.allocation);
  if (allocation == state_.allocations.end())
    return make_error(ErrorCode::not_found, fmt::format("there is no allocation {}", place.allocation));
  PILOT_TRY(plugin::BatchAdaptor * adaptor, context_.registry->batch(state_.spec.resource));
  PILOT_TRY(const plugin::AllocationRequest wanted, request(place.allocation));
  return adaptor->launch_agent(wanted, allocation->second.job_id, place.rank);
}

Failure failure_of(const model::PilotState& state) {
  Failure failure{state.reason, {}, {}};
  for (const auto& [framework, cluster] : state.clusters) {
    for (const auto& [id, service] : cluster.services) {
      const bool suspect = service.phase == model::ServicePhase::failed || !service.log_tail.empty();
      if (!suspect || !failure.service.empty()) continue;
      failure.service = id;
      failure.log_tail = service.log_tail;
      if (failure.cause.find(id) == std::string::npos)
        failure.cause =
            fmt::format("{}{}{}: {}", failure.cause, failure.cause.empty() ? "" : "; ", id, service.reason);
    }
  }
  return failure;
}

}  // namespace pilot::core
