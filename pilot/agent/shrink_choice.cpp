#include "pilot/agent/shrink_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "pilot/base/contains.hpp"

namespace pilot::agent {
namespace {

using model::NodePhase;
using model::PilotPhase;

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

bool goes_as_a_whole(const model::PilotState& state, const std::string& allocation,
                     const std::vector<std::string>& chosen) {
  const auto nodes = state.nodes_of(allocation);
  const auto& job = state.allocations.at(allocation);
  return allocation != base_allocation && !job.joins && !nodes.empty() &&
         std::ranges::all_of(nodes, [&](const std::string& id) {
           const auto& node = state.nodes.at(id);
           return node.phase == NodePhase::released || node.draining || contains(chosen, id);
         });
}

Result<std::vector<std::string>> ShrinkChoice::choose(const model::ShrinkPilot& wish) const {
  const auto& state = facts_.state;
  if (state.phase != PilotPhase::ready && state.phase != PilotPhase::degraded)
    return make_error(ErrorCode::failed, fmt::format("'{}' is {} and gives no nodes back", state.spec.name,
                                                     to_string(state.phase)));
  Nodes chosen;
  for (const auto& node : wish.nodes) {
    PILOT_TRY_VOID(may_go(node));
    if (!contains(chosen, node)) chosen.push_back(node);
  }
  const auto named = static_cast<std::ptrdiff_t>(chosen.size());
  auto wanted = static_cast<std::size_t>(std::max(0, wish.count));
  take_whole(wanted, chosen);
  take_parts(wanted, chosen);
  if (wanted > 0) return too_few(wish.count, Nodes(chosen.begin() + named, chosen.end()));
  if (chosen.empty()) return make_error(ErrorCode::usage, "no node is named to be given back");
  return chosen;
}

Result<void> ShrinkChoice::may_go(const std::string& node) const {
  const auto& state = facts_.state;
  const auto found = state.nodes.find(node);
  if (found == state.nodes.end() || found->second.phase == NodePhase::released)
    return make_error(ErrorCode::not_found, fmt::format("'{}' has no node '{}'", state.spec.name, node),
                      fmt::format("'pilot status {}' lists them", state.spec.name));
  constexpr const char* until_stop = "it stays until the pilot stops";
  if (state.head && state.head->endpoint.find("//" + found->second.info.address + ":") != std::string::npos)
    return make_error(ErrorCode::usage, fmt::format("the head agent runs on {}", node), until_stop);
  for (const auto& [framework, cluster] : state.clusters)
    for (const auto& service : cluster.plan.services)
      if (service.node == node && service.bound)
        return make_error(ErrorCode::usage, fmt::format("{} runs on {} and can't leave it", service.id, node),
                          until_stop);
  return ok();
}

// How much there is to move, in steps of twice: below 64 MiB all is the same.
int ShrinkChoice::cost_of(const std::string& node) const {
  return std::bit_width(facts_.held(node).count >> 26);
}

// Those with the least to move on each of their nodes come first; of equal ones those that end first, then
// the latest.
std::vector<std::string> ShrinkChoice::allocations_by_cost() const {
  const auto& state = facts_.state;
  std::map<std::string, int> costs;
  std::vector<std::string> names;
  for (const auto& [id, allocation] : state.allocations)
    if (id != base_allocation && allocation.phase != model::AllocationPhase::ended) {
      names.push_back(id);
      int& cost = costs[id];
      for (const auto& node : state.nodes_of(id)) cost = std::max(cost, cost_of(node));
    }
  std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
    if (costs.at(a) != costs.at(b)) return costs.at(a) < costs.at(b);
    const auto one_has = facts_.time_left(a).value_or(Duration::max());
    const auto other_has = facts_.time_left(b).value_or(Duration::max());
    if (one_has != other_has) return one_has < other_has;
    return state.allocations.at(a).first_node > state.allocations.at(b).first_node;
  });
  return names;
}

// Its nodes that may be chosen as well: the least to move first, of equal ones the last.
ShrinkChoice::Nodes ShrinkChoice::free_to_go(const std::string& allocation, const Nodes& chosen) const {
  Nodes nodes;
  for (const auto& id : facts_.usable) {
    const auto& node = facts_.state.nodes.at(id);
    if (node.info.allocation == allocation && !node.draining && !contains(chosen, id) && may_go(id))
      nodes.insert(nodes.begin(), id);
  }
  std::ranges::stable_sort(nodes, {}, [this](const auto& node) { return cost_of(node); });
  return nodes;
}

// The extensions that make up most of what is wanted.
void ShrinkChoice::take_whole(std::size_t& wanted, Nodes& chosen) const {
  std::vector<Nodes> whole;
  std::vector<std::size_t> sizes;
  for (const auto& id : allocations_by_cost()) {
    auto nodes = free_to_go(id, chosen);
    auto all = chosen;
    all.insert(all.end(), nodes.begin(), nodes.end());
    if (!goes_as_a_whole(facts_.state, id, all)) nodes.clear();
    sizes.push_back(nodes.size());
    whole.push_back(std::move(nodes));
  }
  for (std::size_t rest = 0; rest <= wanted; ++rest) {
    const auto groups = groups_of(sizes, wanted - rest);
    if (!groups) continue;
    for (const auto group : *groups) chosen.insert(chosen.end(), whole[group].begin(), whole[group].end());
    wanted = rest;
    return;
  }
}

// Of jobs that go on, and that have their script on their first node.
void ShrinkChoice::take_parts(std::size_t& wanted, Nodes& chosen) const {
  for (const auto& id : allocations_by_cost()) {
    if (facts_.unwilling.contains(id)) continue;
    auto nodes = free_to_go(id, chosen);
    const bool has_script = !facts_.state.allocations.at(id).joins;
    std::erase_if(nodes,
                  [&](const auto& node) { return has_script && facts_.state.nodes.at(node).info.rank == 0; });
    nodes.resize(std::min(wanted, nodes.size()));
    chosen.insert(chosen.end(), nodes.begin(), nodes.end());
    wanted -= nodes.size();
  }
}

Error ShrinkChoice::too_few(int wanted, const Nodes& can) const {
  std::string what =
      fmt::format("{} node{} can't be given back, {} can", wanted, wanted == 1 ? "" : "s", can.size());
  if (!can.empty()) what += fmt::format(" ({})", fmt::join(can, ", "));
  for (const auto& [allocation, error] : facts_.unwilling)
    what += fmt::format("; {}: {}", allocation, error.message);
  return make_error(ErrorCode::usage, std::move(what),
                    "the base's nodes go only by --node, and never that of the head, those with controllers, "
                    "and the first of each job");
}

}  // namespace pilot::agent
