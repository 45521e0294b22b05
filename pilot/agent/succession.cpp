#include "pilot/agent/succession.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace pilot::agent {

namespace {

// A node that an allocation was asked for, whether or not it has come.
struct Candidate {
  bool down = true;
  int number = 0;
  auto operator<=>(const Candidate&) const = default;
};

std::vector<Candidate> candidates(const model::PilotState& state, const std::string& keeper) {
  std::vector<Candidate> line;
  for (const auto& [name, allocation] : state.allocations) {
    for (int number = allocation.first_node; number < allocation.first_node + allocation.nodes; ++number) {
      const std::string id = fmt::format("node-{}", number);
      const auto found = state.nodes.find(id);
      const bool known = found != state.nodes.end();
      if (id == keeper) continue;
      if (known && (found->second.draining || found->second.phase == model::NodePhase::released)) continue;
      line.push_back({!known || found->second.phase != model::NodePhase::up, number});
    }
  }
  std::ranges::sort(line);
  return line;
}

}  // namespace

std::optional<int> place_in_line(const model::PilotState& state, const std::string& keeper,
                                 const std::string& node) {
  const auto line = candidates(state, keeper);
  const auto found = std::ranges::find_if(
      line, [&](const Candidate& candidate) { return fmt::format("node-{}", candidate.number) == node; });
  if (found == line.end()) return std::nullopt;
  return static_cast<int>(found - line.begin());
}

std::optional<Duration> patience_of(const model::PilotState& state, const std::string& keeper,
                                    const std::string& node, const SuccessionTiming& timing) {
  const auto place = place_in_line(state, keeper, node);
  if (!place) return std::nullopt;
  return (state.head ? timing.head_lost : timing.first_head) + *place * timing.stagger;
}

}  // namespace pilot::agent
