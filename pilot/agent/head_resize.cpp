// Nodes that come and go while the pilot runs.  What is wanted follows from the nodes; each cluster's plan
// is brought to it in one change at a time:
//
//   plan for the nodes that are there -> new services get ready -> data move -> draining nodes' services
//   stop and are retired -> the nodes are released -> plan without them -> their allocation is given back
//
// All steps can be repeated, so that a head that was killed goes on from its log.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "pilot/agent/head_core.hpp"
#include "pilot/base/contains.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

using model::AllocationPhase;
using model::NodePhase;
using model::PilotPhase;

namespace {

// Looked at before lists of nodes are made: there may be thousands, and most of the time nothing is to be
// done.
template <typename Condition>
bool any_node(const model::PilotState& state, Condition condition) {
  return std::ranges::any_of(state.nodes, [&](const auto& entry) { return condition(entry.second); });
}

std::vector<std::string> draining_in(const model::ClusterPlan& plan) {
  return plan.resize ? plan.resize->draining : std::vector<std::string>();
}

}  // namespace

// --- what is asked for -----------------------------------------------------------------------------------

void HeadCore::extend(const std::string& peer, const std::string& id, const model::ExtendPilot& wish) {
  const auto refuse = [&](ErrorCode code, std::string what, std::string hint) {
    send(peer, model::Refused{make_error(code, std::move(what), std::move(hint))}, id);
  };
  if (wish.nodes < 1) return refuse(ErrorCode::usage, fmt::format("{} nodes are none", wish.nodes), "");
  if (state_.phase != PilotPhase::ready && state_.phase != PilotPhase::degraded)
    return refuse(
        ErrorCode::failed,
        fmt::format("'{}' is {} and takes no more nodes", state_.spec.name, to_string(state_.phase)),
        state_.phase == PilotPhase::failed
            ? fmt::format("'pilot stop {}' cleans up", state_.spec.name)
            : fmt::format("'pilot wait {} --for ready' waits until it does", state_.spec.name));
  if (warned_.contains(base_allocation))
    return refuse(ErrorCode::failed, fmt::format("the time of '{}' is almost over", state_.spec.name),
                  "start another pilot; what kept its data can be opened again");
  if (extending_) return refuse(ErrorCode::unavailable, "another extension is being asked for", "try again");
  int first = state_.spec.nodes + 1;
  for (const auto& [name, allocation] : state_.allocations)
    first = std::max(first, allocation.first_node + allocation.nodes);
  extending_ = Extending{peer,
                         id,
                         {fmt::format("a{}", state_.allocations.size()),
                          wish.nodes,
                          first,
                          wish.walltime,
                          wish.move,
                          {},
                          wish.throttle}};
  if (wish.in_place) extending_->wish.joins = base_allocation;
  out_.effects.push_back(AdmitNodes{first, wish.nodes});
}

HeadOutput HeadCore::admitted(const Result<void>& result) {
  if (!extending_) return take();
  const Extending done = *std::exchange(extending_, std::nullopt);
  if (result.has_error()) {
    send(done.peer, model::Refused{result.error()}, done.id);
  } else {
    emit(done.wish);
    send(done.peer, model::ExtensionPlanned{done.wish.allocation, done.wish.first_node}, done.id);
  }
  return take();
}

Result<void> HeadCore::extension_submitted(const model::ExtensionSubmitted& message) {
  const auto found = state_.allocations.find(message.allocation);
  if (found == state_.allocations.end() || found->second.job_id == message.job_id) return ok();
  if (found->second.phase == AllocationPhase::ended)
    return make_error(ErrorCode::failed,
                      fmt::format("{} is over: {}", message.allocation, found->second.reason));
  if (!has_joined(found->second))
    emit(model::AllocationSubmitted{message.allocation, message.job_id, found->second.nodes});
  return ok();
}

void HeadCore::extension_refused(const model::ExtensionRefused& message) {
  const auto found = state_.allocations.find(message.allocation);
  if (found != state_.allocations.end() && found->second.phase != AllocationPhase::ended)
    emit(model::AllocationChanged{message.allocation, AllocationPhase::ended, message.reason});
}

// --- what follows from the nodes -------------------------------------------------------------------------

// The base, and extensions of which every node has come; without those that were released.
std::vector<std::string> HeadCore::usable_nodes() const {
  std::vector<std::string> usable;
  const auto add = [&](const std::vector<std::string>& nodes) {
    std::ranges::copy_if(nodes, std::back_inserter(usable), [&](const std::string& id) {
      return state_.nodes.at(id).phase != NodePhase::released;
    });
  };
  add(state_.nodes_of(base_allocation));
  std::vector<std::pair<int, std::string>> extensions;
  for (const auto& [id, allocation] : state_.allocations)
    if (id != base_allocation) extensions.emplace_back(allocation.first_node, id);
  std::ranges::sort(extensions);
  for (const auto& [first, id] : extensions) {
    const auto nodes = state_.nodes_of(id);
    if (static_cast<int>(nodes.size()) == state_.allocations.at(id).nodes) add(nodes);
  }
  return usable;
}

std::vector<std::string> HeadCore::draining_nodes() const {
  std::vector<std::string> draining;
  if (!any_node(state_, [](const auto& node) { return node.draining; })) return draining;
  for (const auto& id : usable_nodes())
    if (state_.nodes.at(id).draining) draining.push_back(id);
  return draining;
}

// Its data are elsewhere: what runs there may stop.
bool HeadCore::is_leaving(const std::string& node) const {
  const auto found = state_.nodes.find(node);
  if (found == state_.nodes.end() || !found->second.draining) return false;
  return std::ranges::all_of(state_.clusters, [&](const auto& entry) {
    const model::ClusterState& cluster = entry.second;
    return !cluster.changing && !cluster.moving && cluster.change_failure.empty() &&
           (!contains(cluster.plan.nodes, node) || contains(draining_in(cluster.plan), node));
  });
}

void HeadCore::cordon(const std::string& node, const std::string& reason,
                      const std::optional<std::string>& throttle) {
  const auto& state = state_.nodes.at(node);
  if (!state.draining && state.phase != NodePhase::released)
    emit(model::NodeCordoned{node, true, reason, throttle});
}

// Whether or not what it holds finds a place elsewhere: it is gone, or its time is almost over.
bool HeadCore::goes_anyway(const std::string& node) const {
  const auto& state = state_.nodes.at(node);
  return state.phase == NodePhase::lost || warned_.contains(state.info.allocation);
}

// Of those who asked for the nodes that come and go, the first who said something of it.
std::string HeadCore::throttle_wished(const Layout& wanted, const model::ClusterPlan& plan) const {
  for (const auto& id : wanted.draining)
    if (const auto& throttle = state_.nodes.at(id).throttle) return *throttle;
  for (const auto& id : wanted.nodes) {
    const auto allocation = state_.allocations.find(state_.nodes.at(id).info.allocation);
    if (!contains(plan.nodes, id) && allocation != state_.allocations.end() && allocation->second.throttle)
      return *allocation->second.throttle;
  }
  return {};
}

// What would be taken from us is given back before: data move while their node is still there.  The base ends
// in order, so that data that outlive it are whole.
void HeadCore::give_back_in_time() {
  if (state_.phase != PilotPhase::ready && state_.phase != PilotPhase::degraded) return;
  for (const auto& [id, allocation] : state_.allocations) {
    const auto time = time_left(id);  // which stands still while it is suspended
    if (!time || allocation.phase == AllocationPhase::ended || is_suspended(id)) continue;
    const Duration left = *time;
    const Duration lead = departure_of(id, allocation).lead;
    if (id == base_allocation && left <= std::min(timing_.last_lead, lead))
      return stop_pilot(fmt::format("the time of its base is over in {}", format_duration(left)));
    if (left > 2 * lead) warned_.erase(id);  // it was prolonged
    if (left > lead) continue;
    const auto [again, is_new] = warned_.try_emplace(id, clock_->steady());
    const std::string reason = fmt::format("the time of {} is over in {}", id, format_duration(left));
    if (id == base_allocation) {
      if (is_new) note(fmt::format("{}: then the pilot ends with all its data", reason));
    } else if (clock_->steady() >= again->second) {  // and once more when its data could not move
      again->second = clock_->steady() + timing_.leave_again;
      for (const auto& node : state_.nodes_of(id)) cordon(node, reason);
    }
  }
}

bool HeadCore::is_bound(const std::string& node) const {
  return std::ranges::any_of(state_.clusters, [&](const auto& entry) {
    return std::ranges::any_of(entry.second.plan.services, [&](const model::ServiceSpec& spec) {
      return spec.node == node && spec.bound;
    });
  });
}

// Nodes that were lost for long are done without; what they held is rebuilt from its other replicas.  When
// that fails (too few nodes are left), it is tried again after twice the time.  One that has a bound service
// is emptied, but not released: it is a member of the cluster until it comes back.
void HeadCore::do_without_lost_nodes() {
  if (state_.phase != PilotPhase::ready && state_.phase != PilotPhase::degraded) return;
  if (!any_node(state_, [](const auto& node) { return node.phase == NodePhase::lost; })) return;
  const SteadyTime now = clock_->steady();
  std::vector<std::string> lost;  // also of an extension of which not all came
  for (const auto& [id, node] : state_.nodes)
    if (node.phase == NodePhase::lost && !(node.draining && done_without_.contains(id)) &&
        !is_suspended(node.info.allocation))
      lost.push_back(id);
  for (const auto& id : lost) {
    const auto since = lost_since_.try_emplace(id, now).first->second;
    auto& patience = lost_patience_.try_emplace(id, state_.spec.lost_after).first->second;
    if (now - since <= patience) continue;
    done_without_.insert(id);
    if (state_.nodes.at(id).draining) continue;
    cordon(id, fmt::format("lost for {}", format_duration(patience)));
    lost_since_[id] = now;
    patience *= 2;
  }
}

void HeadCore::follow_nodes() {
  for (const auto& entry : state_.clusters) {
    const auto& [framework, cluster] = entry;
    if (!cluster.ready) continue;
    if (cluster.changing) {
      follow_change(entry);
    } else if (cluster.moving) {
      follow_move(entry);
    } else if (!retire(entry)) {
      change(entry);
    }
  }
  release_drained_nodes();
  return_released_nodes();
}

// Draining nodes that were lost, beside those that a change is for.
bool HeadCore::lost_beside(const std::vector<std::string>& planned) const {
  return std::ranges::any_of(draining_nodes(), [&](const std::string& id) {
    return state_.nodes.at(id).phase == NodePhase::lost && !contains(planned, id);
  });
}

// Until its new services are ready, or can't be.
void HeadCore::follow_change(const ClusterEntry& entry) {
  const auto& [framework, cluster] = entry;
  if (lost_beside(draining_in(cluster.plan))) return change(entry);  // it would wait for them for ever
  for (const auto& spec : cluster.plan.services) {
    const auto& service = cluster.services.at(spec.id);
    if (service.phase == model::ServicePhase::failed && contains(cluster.arriving, spec.id))
      return change_failed(framework, fmt::format("{}: {}", spec.id, service.reason));
  }
  bring_up(entry);
}

void HeadCore::follow_move(const ClusterEntry& entry) {
  const auto& [framework, cluster] = entry;
  if (moving_.insert(framework).second) {
    out_.effects.push_back(MoveData{framework, *cluster.plan.resize->move});
  } else if (const auto gone = overtaken_by(cluster); gone && !stopped_for_.contains(framework)) {
    stopped_for_[framework] = fmt::format("{}: {}", *gone, state_.nodes.at(*gone).reason);
    out_.effects.push_back(StopMoving{framework});
  }
}

// A node with a part of the cluster that is lost for good, which the change under way knows nothing of.  What
// moves there would be waited for until nothing has moved for long, and what it held is missing until then.
std::optional<std::string> HeadCore::overtaken_by(const model::ClusterState& cluster) const {
  const auto planned = draining_in(cluster.plan);
  for (const auto& id : done_without_) {
    const auto& node = state_.nodes.at(id);
    const bool has_part =
        std::ranges::any_of(cluster.plan.services, [&](const auto& spec) { return spec.node == id; });
    if (node.phase == NodePhase::lost && node.draining && has_part && !contains(planned, id)) return id;
  }
  return std::nullopt;
}

// Asks for a plan when the one there is was made for other nodes.
void HeadCore::change(const ClusterEntry& entry) {
  const auto& [framework, cluster] = entry;
  const Layout wanted{usable_nodes(), draining_nodes()};
  if (wanted.nodes == cluster.plan.nodes && wanted.draining == draining_in(cluster.plan)) {
    refused_.erase(framework);  // what could not be planned then may be asked for again
    return;
  }
  const auto refused = refused_.find(framework);
  if (!planning_.empty() || (refused != refused_.end() && refused->second == wanted)) return;
  refused_[framework] = wanted;  // until a plan has come that fits
  const auto spec = std::ranges::find(state_.spec.frameworks, framework, &model::FrameworkSpec::name);
  if (spec == state_.spec.frameworks.end()) return;
  const bool move = std::ranges::all_of(wanted.nodes, [&](const std::string& id) {
    const auto allocation = state_.allocations.find(state_.nodes.at(id).info.allocation);
    return contains(cluster.plan.nodes, id) || allocation == state_.allocations.end() ||
           allocation->second.move;
  });
  planning_.insert(framework);
  out_.effects.push_back(PlanCluster{
      *spec, nodes_to_plan_for(), cluster.plan, wanted.draining, move, throttle_wished(wanted, cluster.plan),
      std::ranges::any_of(wanted.draining, [this](const std::string& id) { return goes_anyway(id); })});
}

HeadOutput HeadCore::progressed(const std::string& purpose, std::string_view sentence) {
  const SteadyTime now = clock_->steady();
  if (!progress_noted_ || now - *progress_noted_ >= timing_.progress) {
    progress_noted_ = now;
    note(fmt::format("{}: {}", purpose, sentence));
  }
  return take();
}

HeadOutput HeadCore::moved(const std::string& framework, const Result<void>& result) {
  moving_.erase(framework);
  const auto stopped_for = stopped_for_.extract(framework);
  if (winding_down()) return take();
  if (result.has_error()) {
    if (!stopped_for.empty()) note(fmt::format("{}: {}", framework, result.error().text()));
    change_failed(framework, stopped_for.empty() ? result.error().text() : stopped_for.mapped());
  } else {
    emit(model::DataMoved{framework, {}});
  }
  return take();
}

// Everything stays as it was: nodes that were to be given back are kept.  But when some were lost meanwhile,
// all that leave in any case are the next plan's.
void HeadCore::change_failed(const std::string& framework, const std::string& cause) {
  emit(model::DataMoved{framework, cause});
  const auto asked = refused_.find(framework);  // also when no plan has come of it
  const auto planned =
      asked != refused_.end() ? asked->second.draining : draining_in(state_.clusters.at(framework).plan);
  const bool planned_anew = lost_beside(planned);
  for (const auto& id : draining_nodes())
    if (!planned_anew || !goes_anyway(id))
      emit(model::NodeCordoned{id, false, fmt::format("{}: {}", framework, cause), {}});
}

// Stops what runs on draining nodes and takes it out of the cluster.  True while something is left to do.
bool HeadCore::retire(const ClusterEntry& entry) {
  const auto& [framework, cluster] = entry;
  bool busy = false;
  for (const auto& node : draining_in(cluster.plan)) {
    if (!is_leaving(node)) continue;
    std::vector<const model::ServiceSpec*> active;
    for (const auto& spec : cluster.plan.services)
      if (spec.node == node && is_active(spec)) active.push_back(&spec);
    const bool gone = state_.nodes.at(node).phase != NodePhase::up;  // with all that ran there
    if (!active.empty() && !gone) {
      ask_to_stop(active);
      busy = true;
      continue;
    }
    const auto command = cluster.plan.resize->retire.find(node);
    if (command == cluster.plan.resize->retire.end()) continue;
    const auto [done, is_new] = retired_.try_emplace({framework, node}, false);
    if (is_new) out_.effects.push_back(RetireNode{framework, node, command->second});
    busy = busy || !done->second;
  }
  return busy;
}

HeadOutput HeadCore::retired(const std::string& framework, const std::string& node,
                             const Result<void>& result) {
  if (result.has_error())
    note(fmt::format("{}: {} is still in its books: {}", framework, node, result.error().text()));
  retired_[{framework, node}] = true;
  return take();
}

void HeadCore::release_drained_nodes() {
  std::vector<std::string> draining;  // also of an extension of which not all came
  for (const auto& [id, node] : state_.nodes)
    if (node.draining && node.phase != NodePhase::released) draining.push_back(id);
  for (const auto& id : draining) {
    const bool gone = state_.nodes.at(id).phase == NodePhase::lost;  // with all that ran there
    const bool idle = std::ranges::all_of(state_.clusters, [&](const auto& entry) {
      const auto& [framework, cluster] = entry;
      if (!contains(cluster.plan.nodes, id)) return true;
      const bool has_command = cluster.plan.resize && cluster.plan.resize->retire.contains(id);
      const auto done = retired_.find({framework, id});
      if (has_command && (done == retired_.end() || !done->second)) return false;
      return gone || std::ranges::none_of(cluster.plan.services, [&](const auto& spec) {
               return spec.node == id && is_active(spec);
             });
    });
    if (!idle || !is_leaving(id) || is_bound(id)) continue;
    const auto session = sessions_.find(id);
    if (session == sessions_.end()) {
      if (gone) emit(model::NodeChanged{id, NodePhase::released, "it was lost while it was given back"});
    } else if (auto& asked = session->second.asked_to_release; !asked) {
      asked = clock_->steady();
      send(session->second.peer, model::ReleaseNode{});
    }
  }
}

}  // namespace pilot::agent
