// Which nodes a shrinking pilot gives back, and how the batch system gets them: an extension that is empty
// ends with its job; a job that keeps nodes is made smaller, once for all nodes that leave it together, since
// some systems can do that only once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>

#include "pilot/agent/head_core.hpp"
#include "pilot/base/contains.hpp"

namespace pilot::agent {

using model::AllocationPhase;
using model::NodePhase;
using model::PilotPhase;

namespace {

// The first of the groups, in their order, that have `wanted` members together; none: there are no such.
std::optional<std::vector<std::size_t>> groups_of(const std::vector<std::size_t>& sizes, std::size_t wanted) {
  std::vector<std::vector<bool>> reachable(sizes.size() + 1, std::vector<bool>(wanted + 1, false));
  reachable[sizes.size()][0] = true;  // by groups from i on
  for (std::size_t i = sizes.size(); i-- > 0;)
    for (std::size_t sum = 0; sum <= wanted; ++sum)
      reachable[i][sum] =
          reachable[i + 1][sum] || (sizes[i] > 0 && sizes[i] <= sum && reachable[i + 1][sum - sizes[i]]);
  if (!reachable[0][wanted]) return std::nullopt;
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 || sizes[i] > wanted || !reachable[i + 1][wanted - sizes[i]]) continue;
    taken.push_back(i);
    wanted -= sizes[i];
  }
  return taken;
}

}  // namespace

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
  const auto nodes = choose_nodes_to_give_back();
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

Result<void> HeadCore::may_give_back(const std::string& node) const {
  const auto found = state_.nodes.find(node);
  if (found == state_.nodes.end() || found->second.phase == NodePhase::released)
    return make_error(ErrorCode::not_found, fmt::format("'{}' has no node '{}'", state_.spec.name, node),
                      fmt::format("'pilot status {}' lists them", state_.spec.name));
  constexpr const char* until_stop = "it stays until the pilot stops";
  if (state_.head && state_.head->endpoint.find("//" + found->second.info.address + ":") != std::string::npos)
    return make_error(ErrorCode::usage, fmt::format("the head agent runs on {}", node), until_stop);
  for (const auto& [framework, cluster] : state_.clusters)
    for (const auto& service : cluster.plan.services)
      if (service.node == node && service.bound)
        return make_error(ErrorCode::usage, fmt::format("{} runs on {} and can't leave it", service.id, node),
                          until_stop);
  return ok();
}

// How much there is to move, in steps of twice: below 64 MiB all is the same.
int HeadCore::cost_of(const std::string& node) const {
  return std::bit_width(held_by(node).count >> 26);
}

// Those with the least to move on each of their nodes come first; of equal ones those that end first, then
// the latest.  Not the base: its nodes go only when they are named.
std::vector<std::string> HeadCore::allocations_by_cost() const {
  std::map<std::string, int> costs;
  std::vector<std::string> names;
  for (const auto& [id, allocation] : state_.allocations)
    if (id != base_allocation && allocation.phase != AllocationPhase::ended) {
      names.push_back(id);
      int& cost = costs[id];
      for (const auto& node : state_.nodes_of(id)) cost = std::max(cost, cost_of(node));
    }
  std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
    if (costs.at(a) != costs.at(b)) return costs.at(a) < costs.at(b);
    const auto one_has = time_left(a).value_or(Duration::max());
    const auto other_has = time_left(b).value_or(Duration::max());
    if (one_has != other_has) return one_has < other_has;
    return state_.allocations.at(a).first_node > state_.allocations.at(b).first_node;
  });
  return names;
}

// Those of its nodes that may be chosen as well: the least to move first, of equal ones the last.
std::vector<std::string> HeadCore::free_to_go(const std::string& allocation,
                                              const std::vector<std::string>& chosen) const {
  std::vector<std::string> nodes;
  for (const auto& node : usable_nodes()) {
    const auto& state = state_.nodes.at(node);
    if (state.info.allocation == allocation && !state.draining && !contains(chosen, node) &&
        may_give_back(node))
      nodes.insert(nodes.begin(), node);
  }
  std::ranges::stable_sort(nodes, {}, [this](const auto& node) { return cost_of(node); });
  return nodes;
}

// When these go and those that are going, nothing is left of it.
bool HeadCore::goes_as_a_whole(const std::string& allocation, const std::vector<std::string>& chosen) const {
  const auto nodes = state_.nodes_of(allocation);
  return allocation != base_allocation && !state_.allocations.at(allocation).joins &&
         static_cast<int>(nodes.size()) == state_.allocations.at(allocation).nodes &&
         std::ranges::all_of(nodes, [&](const std::string& node) {
           const auto& state = state_.nodes.at(node);
           return state.phase == NodePhase::released || state.draining || contains(chosen, node);
         });
}

// The named nodes, and as many as are wanted beside them: whole extensions where that works out, since they
// simply end; else the fewest parts of jobs.
Result<std::vector<std::string>> HeadCore::choose_nodes_to_give_back() const {
  if (state_.phase != PilotPhase::ready && state_.phase != PilotPhase::degraded)
    return make_error(ErrorCode::failed, fmt::format("'{}' is {} and gives no nodes back", state_.spec.name,
                                                     to_string(state_.phase)));
  std::vector<std::string> chosen;
  for (const auto& node : shrinking_->wish.nodes) {
    PILOT_TRY_VOID(may_give_back(node));
    if (!contains(chosen, node)) chosen.push_back(node);
  }
  const auto take = [&chosen](const std::vector<std::string>& nodes, std::size_t count) {
    chosen.insert(chosen.end(), nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const auto named = chosen.size();
  std::size_t wanted = static_cast<std::size_t>(std::max(0, shrinking_->wish.count));
  const auto allocations = allocations_by_cost();
  std::vector<std::vector<std::string>> whole;
  std::vector<std::size_t> sizes;
  for (const auto& id : allocations) {
    auto nodes = free_to_go(id, chosen);
    auto all = chosen;
    all.insert(all.end(), nodes.begin(), nodes.end());
    if (!goes_as_a_whole(id, all)) nodes.clear();
    sizes.push_back(nodes.size());
    whole.push_back(std::move(nodes));
  }
  for (std::size_t rest = 0; rest <= wanted; ++rest) {
    const auto groups = groups_of(sizes, wanted - rest);
    if (!groups) continue;
    for (const auto group : *groups) take(whole[group], whole[group].size());
    wanted = rest;
    break;
  }
  for (const auto& id : allocations) {
    if (shrinking_->unwilling.contains(id)) continue;
    auto nodes = free_to_go(id, chosen);
    const bool has_script = !state_.allocations.at(id).joins;
    std::erase_if(nodes,
                  [&](const auto& node) { return has_script && state_.nodes.at(node).info.rank == 0; });
    const auto count = std::min(wanted, nodes.size());
    take(nodes, count);
    wanted -= count;
  }
  if (wanted == 0 && !chosen.empty()) return chosen;
  if (wanted == 0) return make_error(ErrorCode::usage, "no node is named to be given back");
  const auto can = chosen.size() - named;
  std::string what = fmt::format("{} node{} can't be given back, {} can", shrinking_->wish.count,
                                 shrinking_->wish.count == 1 ? "" : "s", can);
  if (can > 0)
    what += fmt::format(" ({})",
                        fmt::join(chosen.begin() + static_cast<std::ptrdiff_t>(named), chosen.end(), ", "));
  for (const auto& [allocation, error] : shrinking_->unwilling)
    what += fmt::format("; {}: {}", allocation, error.message);
  return make_error(ErrorCode::usage, std::move(what),
                    "the base's nodes go only by --node, and never that of the head, those with controllers, "
                    "and the first of each job");
}

// What is taken out of jobs that go on.
std::vector<PartOfAllocation> HeadCore::parts_of(const std::vector<std::string>& nodes) const {
  std::map<std::string, PartOfAllocation> parts;
  for (const auto& node : nodes) {
    const auto& info = state_.nodes.at(node).info;
    if (goes_as_a_whole(info.allocation, nodes)) continue;
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
