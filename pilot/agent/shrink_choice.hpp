// Which nodes a pilot gives back: the least to move, whole extensions where that works out, never what can't
// go.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"
#include "pilot/model/message.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::agent {

inline constexpr const char* base_allocation = "a0";  // the allocation that a pilot begins with

// When these nodes go and those that are going, none that came is left of the allocation's job: it is
// cancelled, and with it the wait for any that did not.
bool goes_as_a_whole(const model::PilotState& state, const std::string& allocation,
                     const std::vector<std::string>& chosen);

struct ShrinkFacts {
  const model::PilotState& state;
  std::vector<std::string> usable;  // nodes, in the order in which they came
  std::function<Bytes(const std::string& node)> held;
  std::function<std::optional<Duration>(const std::string& allocation)> time_left;
  const std::map<std::string, Error>& unwilling;  // allocations that can't be made smaller, and why
};

// Pure: same facts, same choice.
class ShrinkChoice {
 public:
  explicit ShrinkChoice(ShrinkFacts facts) : facts_(std::move(facts)) {}

  // The nodes that the wish names, and as many as it wants beside them: whole extensions where that works
  // out, since they simply end; else the fewest parts of jobs.  Not the base's, unless named. Errors:
  // not_found and usage, saying which node can't go, why, and how many can.
  Result<std::vector<std::string>> choose(const model::ShrinkPilot& wish) const;

 private:
  using Nodes = std::vector<std::string>;

  Result<void> may_go(const std::string& node) const;
  int cost_of(const std::string& node) const;
  std::vector<std::string> allocations_by_cost() const;
  Nodes free_to_go(const std::string& allocation, const Nodes& chosen) const;
  void take_whole(std::size_t& wanted, Nodes& chosen) const;
  void take_parts(std::size_t& wanted, Nodes& chosen) const;
  Error too_few(int wanted, const Nodes& can) const;

  ShrinkFacts facts_;
};

}  // namespace pilot::agent
