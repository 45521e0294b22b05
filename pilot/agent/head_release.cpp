// How a pilot shrinks (which nodes: shrink_choice.hpp), and how the batch system gets them: an extension that
// is empty ends with its job; a job that keeps nodes is made smaller, once for all nodes that leave it
// together, since some systems can do that only once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "pilot/agent/head_core.hpp"
#include "pilot/base/contains.hpp"

namespace pilot::agent {

using model::AllocationPhase;
using model::NodePhase;

// --- which nodes -----------------------------------------------------------------------------------------

void HeadCore::shrink(const std::string& peer, const std::string& id, const model::ShrinkPilot& wish) {
  if (shrinking_)
    return send(
        peer, model::Refused{make_error(ErrorCode::unavailable, "other nodes are being chosen", "try again")},
        id);
  shrinking_ = Shrinking{peer, id, wish, {}, {}, {}};
  choose_and_check();
}

void HeadCore::choose_and_check() {
  const ShrinkChoice choice({state_, usable_nodes(), [this](const auto& node) { return held_by(node); },
                             [this](const auto& allocation) { return time_left(allocation); },
                             shrinking_->unwilling});
  const auto nodes = choice.choose(shrinking_->wish);
  if (nodes.has_error()) return refuse_to_shrink(nodes.error());
  shrinking_->nodes = nodes.value();
  auto parts = parts_of(nodes.value());
  if (parts.empty()) return check_moves();
  out_.effects.push_back(CheckRelease{std::move(parts)});
}

HeadOutput HeadCore::release_checked(const std::map<std::string, Error>& refused) {
  if (!shrinking_) return take();
  if (refused.empty()) {
    check_moves();
    return take();
  }
  for (const auto& [allocation, error] : refused) {
    const bool named = std::ranges::any_of(shrinking_->wish.nodes, [&](const std::string& node) {
      const auto found = state_.nodes.find(node);
      return found != state_.nodes.end() && found->second.info.allocation == allocation;
    });
    if (named || !shrinking_->unwilling.emplace(allocation, error).second) {
      refuse_to_shrink(error);
      return take();
    }
  }
  choose_and_check();
  return take();
}

void HeadCore::refuse_to_shrink(const Error& error) {
  const Shrinking done = *std::exchange(shrinking_, std::nullopt);
  send(done.peer, model::Refused{error}, done.id);
}

// Before anything is cordoned: whether what is on the nodes has a place elsewhere.
void HeadCore::check_moves() {
  auto leaving = draining_nodes();
  for (const auto& node : shrinking_->nodes)
    if (!contains(leaving, node)) leaving.push_back(node);
  for (const auto& [framework, cluster] : state_.clusters) {
    const auto spec = std::ranges::find(state_.spec.frameworks, framework, &model::FrameworkSpec::name);
    if (!cluster.ready || spec == state_.spec.frameworks.end()) continue;
    shrinking_->asked.insert(framework);
    out_.effects.push_back(CheckMove{{*spec, nodes_to_plan_for(), cluster.plan, leaving, true}});
  }
  if (shrinking_->asked.empty()) begin_shrinking();
}

HeadOutput HeadCore::move_checked(const std::string& framework, const Result<std::string>& problem) {
  if (!shrinking_ || shrinking_->asked.erase(framework) == 0) return take();
  const auto nodes = fmt::format("{}", fmt::join(shrinking_->nodes, ", "));
  if (problem.has_error())
    refuse_to_shrink(
        problem.error().while_doing(fmt::format("asking {} whether {} can be given back", framework, nodes)));
  else if (!problem.value().empty())
    refuse_to_shrink(make_error(
        ErrorCode::usage, fmt::format("{} can't be given back: {}: {}", nodes, framework, problem.value()),
        "nothing has been changed; fewer nodes, or others, may go"));
  else if (shrinking_->asked.empty())
    begin_shrinking();
  return take();
}

void HeadCore::begin_shrinking() {
  const Shrinking done = *std::exchange(shrinking_, std::nullopt);
  for (const auto& node : done.nodes) cordon(node, {}, done.wish.throttle);
  send(done.peer, model::ShrinkPlanned{done.nodes}, done.id);
}

// What is taken out of jobs that go on.
std::vector<PartOfAllocation> HeadCore::parts_of(const std::vector<std::string>& nodes) const {
  std::map<std::string, PartOfAllocation> parts;
  for (const auto& node : nodes) {
    const auto& info = state_.nodes.at(node).info;
    if (goes_as_a_whole(state_, info.allocation, nodes)) continue;
    auto& part = parts[info.allocation];
    part.allocation = info.allocation;
    part.ranks.push_back(info.rank);
  }
  std::vector<PartOfAllocation> all;
  std::set<std::string> jobs;
  for (auto& [allocation, part] : parts) {
    const auto& job = state_.allocations.at(allocation).job_id;
    part.again = is_being_resized(job) || state_.was_resized(job) || !jobs.insert(job).second;
    all.push_back(std::move(part));
  }
  return all;
}

// --- giving back what is released ------------------------------------------------------------------------

// Released and not yet the batch system's again; none while others of the allocation are still on their way.
std::vector<std::string> HeadCore::nodes_to_return(const std::string& allocation) const {
  std::vector<std::string> nodes;
  for (const auto& id : state_.nodes_of(allocation)) {
    const auto& node = state_.nodes.at(id);
    if (node.phase != NodePhase::released && node.draining) return {};
    if (node.phase == NodePhase::released && !node.returned && node.return_failure.empty())
      nodes.push_back(id);
  }
  return nodes;
}

void HeadCore::return_released_nodes() {
  for (const auto& [id, allocation] : state_.allocations) {
    if (allocation.phase == AllocationPhase::ended || is_being_resized(allocation.job_id)) continue;
    const auto later = return_after_.find(id);
    if (later != return_after_.end() && clock_->steady() < later->second) continue;
    const auto nodes = nodes_to_return(id);
    if (nodes.empty()) continue;
    auto parts = parts_of(nodes);
    giving_back_.insert(id);
    if (parts.empty())
      out_.effects.push_back(GiveBack{id});
    else
      out_.effects.push_back(ReturnNodes{std::move(parts.front())});
  }
}

HeadOutput HeadCore::nodes_returned(const std::string& allocation, const std::vector<int>& ranks,
                                    const Result<void>& result) {
  giving_back_.erase(allocation);
  std::vector<std::string> nodes;
  for (const auto& id : state_.nodes_of(allocation))
    if (contains(ranks, state_.nodes.at(id).info.rank)) nodes.push_back(id);
  if (result.has_value())
    returned(allocation, nodes);
  else
    not_returned(allocation, nodes, result.error());
  return take();
}

// A part of the base's job that was added to it is over when nothing of it is left.
void HeadCore::returned(const std::string& allocation, const std::vector<std::string>& nodes) {
  emit(model::NodesReturned{allocation, nodes, {}});
  const auto& state = state_.allocations.at(allocation);
  const auto all = state_.nodes_of(allocation);
  const bool gone =
      std::ranges::all_of(all, [&](const auto& node) { return state_.nodes.at(node).returned; });
  if (state.joins && gone && static_cast<int>(all.size()) == state.nodes)
    emit(model::AllocationChanged{allocation, AllocationPhase::ended, "given back"});
}

HeadOutput HeadCore::given_back(const std::string& allocation, const Result<void>& result) {
  giving_back_.erase(allocation);
  if (result.has_value())
    emit(model::AllocationChanged{allocation, AllocationPhase::ended, "given back"});
  else
    not_returned(allocation, nodes_to_return(allocation), result.error());
  return take();
}

// A batch system that does not answer may do so later.
void HeadCore::not_returned(const std::string& allocation, const std::vector<std::string>& nodes,
                            const Error& error) {
  if (error.code != ErrorCode::unavailable && error.code != ErrorCode::timed_out)
    return emit(model::NodesReturned{allocation, nodes, error.text()});
  return_after_[allocation] = clock_->steady() + timing_.return_again;
  note(fmt::format("{} can't be given back yet: {}", allocation, error.text()));
}

}  // namespace pilot::agent
