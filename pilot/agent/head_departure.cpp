// When an extension has to be given back: so long before its end as what is on it takes to move elsewhere.
#include <algorithm>

#include "pilot/agent/head_core.hpp"

namespace pilot::agent {

void HeadCore::measured(const std::string& framework, Bytes per_second) {
  if (per_second.count > 0) speed_[framework] = per_second;
}

Bytes HeadCore::held_by(const std::string& node) const {
  Bytes held;
  for (const auto& [framework, cluster] : state_.clusters)
    for (const auto& service : cluster.plan.services)
      if (const auto found = held_.find(service.id); service.node == node && found != held_.end())
        held.count += found->second.count;
  return held;
}

// Half as long again as it took the last time, and a minute for all else; but not more than half of its time,
// unless that is short: the nodes are there to be used.
model::Departure HeadCore::departure_of(const std::string& id,
                                        const model::AllocationState& allocation) const {
  model::Departure departure;
  departure.per_second = timing_.supposed_speed;
  if (!speed_.empty())
    departure.per_second =
        std::ranges::min_element(speed_, {}, [](const auto& entry) { return entry.second.count; })->second;
  for (const auto& node : state_.nodes_of(id))
    if (state_.nodes.at(node).phase != model::NodePhase::released)
      departure.held.count += held_by(node).count;
  const std::chrono::duration<double> moving(1.5 * static_cast<double>(departure.held.count) /
                                             static_cast<double>(departure.per_second.count));
  const Duration time = allocation.walltime.value_or(Duration{0});
  const Duration by_time = std::clamp(time / 10, timing_.shortest_lead, timing_.longest_lead);
  const Duration by_bytes =
      moving > time ? time : std::chrono::duration_cast<Duration>(moving) + timing_.shortest_lead;
  departure.lead = std::max(by_time, std::min(by_bytes, time / 2));
  return departure;
}

std::map<std::string, model::Departure> HeadCore::departures() const {
  std::map<std::string, model::Departure> all;
  for (const auto& [id, allocation] : state_.allocations)
    if (id != base_allocation && allocation.ends_at() && allocation.phase != model::AllocationPhase::ended)
      all[id] = departure_of(id, allocation);
  return all;
}

}  // namespace pilot::agent
