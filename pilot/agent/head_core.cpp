#include "pilot/agent/head_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pilot/base/units.hpp"

namespace pilot::agent {

using model::NodePhase;
using model::PilotPhase;
using model::ServicePhase;

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

bool says_the_same(const model::ServiceState& state, const model::ServiceChanged& change) {
  return state.phase == change.phase && state.process == change.process &&
         state.restarts == change.restarts && state.reason == change.reason;
}

bool at_rest(ServicePhase phase) {
  return phase == ServicePhase::planned || model::is_final(phase);
}

}  // namespace

bool is_done(const model::PilotState& state) {
  return model::is_final(state.phase) && std::ranges::none_of(state.nodes, [](const auto& node) {
           return node.second.phase == NodePhase::up;
         });
}

HeadCore::HeadCore(model::PilotState state, const Clock& clock, HeadTiming timing)
    : state_(std::move(state)), clock_(&clock), timing_(timing), started_at_(clock.steady()) {
  phase_entered_ = {state_.phase, started_at_};
  ticked_at_ = started_at_;
}

// --- output --------------------------------------------------------------------------------------------

void HeadCore::emit(model::EventBody body) {
  model::apply(state_, {state_.last_sequence + 1, clock_->wall(), body});
  if (phase_entered_.first != state_.phase) phase_entered_ = {state_.phase, clock_->steady()};
  out_.events.push_back(std::move(body));
}

void HeadCore::note(std::string text) {
  emit(model::Note{std::move(text)});
}

void HeadCore::send(const std::string& peer, model::MessageBody body, std::string id) {
  out_.messages.push_back({peer, {std::move(id), std::move(body)}});
}

HeadOutput HeadCore::take() {
  advance();
  return std::exchange(out_, {});
}

// --- input ---------------------------------------------------------------------------------------------

HeadOutput HeadCore::start(model::HeadStarted started) {
  started_at_ = clock_->steady();
  emit(std::move(started));
  return take();
}

HeadOutput HeadCore::receive(const std::string& peer, const model::Message& message) {
  return receive({{peer, message}});
}

HeadOutput HeadCore::receive(const std::vector<Incoming>& messages) {
  bool only_heartbeats = true;
  for (const auto& [peer, message] : messages) {
    handle(peer, message);
    only_heartbeats = only_heartbeats && std::holds_alternative<model::Heartbeat>(message.body);
  }
  // Signs of life are most of what comes, and nothing follows from them.
  if (only_heartbeats && out_.events.empty()) return std::exchange(out_, {});
  return take();
}

HeadOutput HeadCore::tick() {
  notice_standstill();
  notice_silence();
  look_at_jobs();
  relaunch_lost_nodes();
  notice_end_of_base();
  give_back_in_time();
  grow_in_place();
  follow_queue();
  do_without_lost_nodes();
  check_data();
  return take();
}

HeadOutput HeadCore::planned(const std::string& framework, const Result<model::ClusterPlan>& plan) {
  planning_.erase(framework);
  probing_.erase(framework);
  writing_.erase(framework);
  if (winding_down()) return take();
  if (plan.has_error()) {
    failed_in(framework, plan.error());
  } else {
    emit(model::ClusterPlanned{plan.value()});
  }
  return take();
}

// What was asked for a plan says nothing any more while another one is being made, and would move data by it.
HeadOutput HeadCore::probed(const std::string& framework, const Result<void>& result) {
  const bool asked = probing_.erase(framework) > 0;
  if (winding_down() || !asked || planning_.contains(framework)) return take();
  if (result.has_error()) {
    failed_in(framework, result.error());
  } else {
    write_client_files(framework);
  }
  return take();
}

HeadOutput HeadCore::client_files_written(const std::string& framework, const Result<void>& result) {
  const bool asked = writing_.erase(framework) > 0;
  if (winding_down() || !asked || planning_.contains(framework)) return take();
  if (result.has_error()) {
    failed_in(framework, result.error());
  } else {
    emit(model::ClusterReady{framework});
  }
  return take();
}

// A pilot that has never been ready has failed; one that was goes on as before the change.
void HeadCore::failed_in(const std::string& framework, const Error& error) {
  if (state_.phase == PilotPhase::booting) return fail(fmt::format("{}: {}", framework, error.text()));
  change_failed(framework, error.text());
}

HeadOutput HeadCore::launched(const std::string& node, const Result<void>& result) {
  --launching_;
  const auto found = relaunches_.find(node);
  if (found == relaunches_.end()) return take();  // it has registered already
  Relaunch& relaunch = found->second;
  relaunch.under_way = false;
  // An agent that was started needs a moment before it is silent for a reason.
  relaunch.next = clock_->steady() +
                  (result.has_value() ? std::max(relaunch.backoff, timing_.node_silence) : relaunch.backoff);
  relaunch.backoff = std::min(2 * relaunch.backoff, timing_.longest_relaunch);
  if (result.has_error() && result.error().code == ErrorCode::not_found) {
    relaunch.over = true;
    note(fmt::format("{} can't be started again: {}", node, result.error().text()));
  } else if (result.has_error() && !state_.nodes.contains(node) && relaunch.told != result.error().text()) {
    relaunch.told = result.error().text();
    note(fmt::format("the agent of {} can't be started yet: {}", node, relaunch.told));
  }
  return take();
}

HeadOutput HeadCore::agent_ended(const std::string& node, const model::ProcessIdentity& agent) {
  const auto found = state_.nodes.find(node);
  if (found != state_.nodes.end() && found->second.info.agent == agent &&
      found->second.phase == NodePhase::up) {
    lose(node, "its agent ended");
    relaunch_lost_nodes();
  }
  return take();
}

void HeadCore::handle(const std::string& peer, const model::Message& message) {
  const auto refuse = [&](const auto&) {
    send(peer, model::Refused{make_error(ErrorCode::usage, "this message is not for the head agent")},
         message.id);
  };
  std::visit(Overloaded{
                 [&](const model::RegisterNode& body) { register_node(peer, body); },
                 [&](const model::ServiceReport& body) { store_report(peer, body); },
                 [&](const model::Heartbeat& body) { answer_heartbeat(peer, body); },
                 [&](const model::NodeReleased& body) { release_node(peer, message, body); },
                 [&](const model::GetStatus&) {
                   send(peer, model::Status{state_, departures()}, message.id);
                 },
                 [&](const model::ExtendPilot& body) { extend(peer, message.id, body); },
                 [&](const model::ExtensionSubmitted& body) {
                   if (const auto taken = extension_submitted(body); taken.has_error())
                     send(peer, model::Refused{taken.error()}, message.id);
                   else
                     send(peer, model::Accepted{}, message.id);
                 },
                 [&](const model::ExtensionRefused& body) {
                   extension_refused(body);
                   send(peer, model::Accepted{}, message.id);
                 },
                 [&](const model::ShrinkPilot& body) { shrink(peer, message.id, body); },
                 [&](const model::StopPilot& body) {
                   stop_pilot(body.reason);
                   send(peer, model::Accepted{}, message.id);
                 },
                 refuse,
             },
             message.body);
}

// What two versions make of the same message nobody has tried.
bool HeadCore::is_another_version(const std::string& peer, const model::NodeInfo& node) {
  if (node.version.empty() || state_.version.empty() || node.version == state_.version) return false;
  const auto error =
      make_error(ErrorCode::failed,
                 fmt::format("the agent of {} on {} is of version {}, and '{}' was started by version {}",
                             node.id, node.host, node.version, state_.spec.name, state_.version),
                 "all nodes of a pilot run one installation; start another pilot after an upgrade");
  note(error.text());
  send(peer, model::Refused{error});
  return true;
}

void HeadCore::register_node(const std::string& peer, const model::RegisterNode& message) {
  if (is_another_version(peer, message.node)) return;
  const std::string& id = message.node.id;
  const auto known = state_.nodes.find(id);
  const NodePhase before = known == state_.nodes.end() ? NodePhase::expected : known->second.phase;
  // An agent that came back after it was released is only released once more: it cleans up.
  const bool given_back = before == NodePhase::released && known->second.draining;
  const bool came_back = before == NodePhase::released && (given_back || winding_down());
  note_age(message);
  const Duration ahead = clock_ahead(message);
  if (!came_back && (before != NodePhase::up || known->second.info != message.node ||
                     std::chrono::abs(known->second.clock_ahead - ahead) >= timing_.clock_off)) {
    if (known != state_.nodes.end() && known->second.info.agent != message.node.agent) stored_.erase(id);
    emit(model::NodeRegistered{message.node, ahead == Duration{0} ? std::nullopt : std::optional(ahead)});
  }
  if (before == NodePhase::lost && known->second.draining && is_bound(id))
    emit(model::NodeCordoned{id, false, "it is back", {}});
  relaunches_.erase(id);
  joined_at_[id] = clock_->steady();
  lost_since_.erase(id);
  lost_patience_.erase(id);
  done_without_.erase(id);
  given_up_.erase(id);
  cleared_.erase(id);
  Session& session = sessions_[id] = Session{peer, clock_->steady(), {}, {}, {}};
  compare(message, session);
  send(peer, model::NodeAccepted{wanted_on(id)});
  if (!given_back || winding_down()) return;
  session.asked_to_release = clock_->steady();
  send(peer, model::ReleaseNode{});
}

// What the node says of its services is true; what it does not know any more is started again.
void HeadCore::compare(const model::RegisterNode& message, Session& session) {
  std::set<std::string> listed;
  for (const auto& change : message.services) {
    listed.insert(change.service);
    const auto* service = state_.service_state(change.service);
    if (service == nullptr) continue;
    if (!says_the_same(*service, change)) emit(change);
    const bool idle = change.phase == ServicePhase::planned || change.phase == ServicePhase::stopped;
    if (!idle) session.asked_to_run.insert(change.service);
  }
  for (const auto& [framework, cluster] : state_.clusters) {
    for (const auto& spec : cluster.plan.services) {
      if (spec.node != message.node.id || listed.contains(spec.id)) continue;
      const auto phase = cluster.services.at(spec.id).phase;
      if (at_rest(phase)) continue;
      stored_.erase(message.node.id);  // nor its reports: it counts them anew
      model::ServiceChanged change{
          spec.id, ServicePhase::waiting, {}, 0, "its node does not know it any more", {}};
      if (phase == ServicePhase::stopping) change.phase = ServicePhase::stopped;
      if (change.phase != phase) emit(change);
    }
  }
}

void HeadCore::store_report(const std::string& peer, const model::ServiceReport& report) {
  const auto stored = stored_.find(report.node);
  // After a restart the first one that comes is taken: agents send what is not acknowledged in order.
  if (stored == stored_.end() || report.number == stored->second + 1) {
    const auto* service = state_.service_state(report.change.service);
    if (service != nullptr && !says_the_same(*service, report.change)) emit(report.change);
    stored_[report.node] = report.number;
  }
  send(peer, model::ReportsStored{stored_[report.node]});
}

void HeadCore::answer_heartbeat(const std::string& peer, const model::Heartbeat& heartbeat) {
  const auto session = sessions_.find(heartbeat.node);
  if (session == sessions_.end() || session->second.peer != peer) {
    const auto node = state_.nodes.find(heartbeat.node);
    if (node != state_.nodes.end() && node->second.phase == NodePhase::released) return;
    send(peer, model::RegisterAgain{});
    return;
  }
  session->second.heard = clock_->steady();
  const auto stored = stored_.find(heartbeat.node);
  send(peer, model::ReportsStored{stored == stored_.end() ? 0 : stored->second});
}

void HeadCore::release_node(const std::string& peer, const model::Message& message,
                            const model::NodeReleased& released) {
  const auto node = state_.nodes.find(released.node);
  if (node != state_.nodes.end() && node->second.phase != NodePhase::released) {
    const bool asked = winding_down() || is_leaving(released.node);
    if (asked || node->second.info.allocation == base_allocation)
      emit(model::NodeChanged{released.node, NodePhase::released, asked ? "" : "its agent was told to end"});
    else
      do_without(released.node, "its agent was told to end");
    if (released.left.empty())
      cleared_.insert(released.node);
    else
      note(fmt::format("{} left: {}", released.node, fmt::join(released.left, "; ")));
  }
  sessions_.erase(released.node);
  relaunches_.erase(released.node);
  send(peer, model::Accepted{}, message.id);
}

// A node of an extension whose job was cancelled or preempted, or whose time was over before all was moved:
// it has left in order, with what it held, which is rebuilt from its other replicas at once.
void HeadCore::do_without(const std::string& node, const std::string& reason) {
  emit(model::NodeChanged{node, NodePhase::lost, reason});
  given_up_.insert(node);
  done_without_.insert(node);
  cordon(node, reason);
}

void HeadCore::stop_pilot(const std::string& reason) {
  if (state_.phase != PilotPhase::stopping && state_.phase != PilotPhase::stopped)
    emit(model::PilotPhaseChanged{PilotPhase::stopping, reason});
  // What they held is not rebuilt any more, which they were lost for until then.
  for (const auto& id : cleared_)
    if (const auto& node = state_.nodes.at(id); node.phase == NodePhase::lost)
      emit(model::NodeChanged{id, NodePhase::released, std::string(node.reason)});
}

Duration HeadCore::longest_silence() const {
  return timing_.node_silence + timing_.silence_per_node * state_.nodes.size();
}

void HeadCore::notice_silence() {
  const SteadyTime now = clock_->steady();
  const Duration longest = longest_silence();
  std::vector<std::string> silent;
  for (const auto& [id, session] : sessions_)
    if (now - session.heard > longest) silent.push_back(id);
  for (const auto& id : silent)
    lose(id, fmt::format("no sign of life for {}",
                         format_duration(std::chrono::floor<std::chrono::seconds>(longest))));

  if (now - started_at_ <= longest) return;
  std::vector<std::string> absent;
  for (const auto& [id, node] : state_.nodes)
    if (node.phase == NodePhase::up && !sessions_.contains(id)) absent.push_back(id);
  for (const auto& id : absent) lose(id, "did not come back after the head agent was restarted");
}

void HeadCore::lose(const std::string& node, std::string reason) {
  sessions_.erase(node);
  lost_since_[node] = clock_->steady();
  const auto found = state_.nodes.find(node);
  if (found != state_.nodes.end() && found->second.phase == NodePhase::up)
    emit(model::NodeChanged{node, NodePhase::lost, std::move(reason)});
}

// A head on a node of an extension outlives the base's job, and nothing else that matters does.
void HeadCore::notice_end_of_base() {
  if (winding_down()) return;
  bool over = false;
  for (const auto& [id, node] : state_.nodes) {
    if (node.info.allocation != base_allocation) continue;
    if (node.phase == NodePhase::released && node.draining) continue;  // given back
    const auto relaunch = relaunches_.find(id);
    over = node.phase == NodePhase::released || (relaunch != relaunches_.end() && relaunch->second.over);
    if (!over) return;
  }
  if (!over) return;
  emit(model::AllocationChanged{base_allocation, model::AllocationPhase::ended, "its job is over"});
  stop_pilot("the job of its base is over");
}

void HeadCore::relaunch_lost_nodes() {
  if (finished_) return;
  const SteadyTime now = clock_->steady();
  for (const auto& [id, node] : state_.nodes) {
    if (node.phase != NodePhase::lost || given_up_.contains(id) || is_suspended(node.info.allocation))
      continue;
    // One that dies as soon as it has joined is not started in a tight loop.
    const auto joined = joined_at_.find(id);
    const SteadyTime first =
        joined == joined_at_.end() ? now : std::max(now, joined->second + timing_.node_silence);
    auto [found, is_new] =
        relaunches_.try_emplace(id, Relaunch{first, timing_.first_relaunch, false, false, {}});
    Relaunch& relaunch = found->second;
    if (is_new) note(fmt::format("starting the agent of {} again", id));
    launch(id, node.info.allocation, node.info.rank, relaunch);
  }
}

void HeadCore::launch(const std::string& node, const std::string& allocation, int rank, Relaunch& relaunch) {
  if (relaunch.under_way || relaunch.over || clock_->steady() < relaunch.next) return;
  if (launching_ >= timing_.most_launches) return;
  relaunch.under_way = true;
  ++launching_;
  out_.effects.push_back(LaunchAgent{node, allocation, rank});
}

}  // namespace pilot::agent
