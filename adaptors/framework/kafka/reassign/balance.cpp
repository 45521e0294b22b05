// Fills the brokers that hold too little and relieves those that hold too much, with few bytes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "adaptors/framework/kafka/reassign/load.hpp"
#include "pilot/base/contains.hpp"

namespace pilot::adaptors::kafka::reassign {

namespace {

using BrokerAt = Load::BrokerAt;

struct Choice {
  Load::PartitionAt partition;
  BrokerAt from;
  BrokerAt to;
};

// As many as are looked at for each move; more find hardly better ones.
constexpr std::size_t shortlist = 8;

// The kept brokers with the most (sign 1) or the least (sign -1) of bytes and replicas together.
std::vector<BrokerAt> extremes(const Load& load, double sign) {
  std::vector<std::pair<double, BrokerAt>> found;  // sorted, best first
  for (BrokerAt broker = 0; broker < load.brokers(); ++broker) {
    if (!load.kept(broker)) continue;
    const std::pair entry(-sign * (load.bytes(broker) + load.replicas(broker)), broker);
    if (found.size() == shortlist && !(entry < found.back())) continue;
    if (found.size() == shortlist) found.pop_back();
    found.insert(std::upper_bound(found.begin(), found.end(), entry), entry);
  }
  std::vector<BrokerAt> brokers;
  for (const auto& entry : found) brokers.push_back(entry.second);
  return brokers;
}

bool allowed(const Load& load, const Choice& choice) {
  return !load.has(choice.partition, choice.to) && load.has_room(choice.partition, choice.to) &&
         load.in_rack(choice.partition, choice.to, choice.from) <=
             load.in_rack(choice.partition, choice.from, choice.from);
}

double square(double x) {
  return x * x;
}

struct Wanted {
  double bytes;
  double leader_costs;  // that much worse is a replica that leads
};

// The replica that fits best of those that one of the fullest can give, and none that was just filled.
std::optional<Choice> for_receiver(const Load& load, BrokerAt to, const Wanted& wanted,
                                   const std::vector<BrokerAt>& filled) {
  std::optional<Choice> best;
  double least = std::numeric_limits<double>::max();
  for (const BrokerAt from : extremes(load, 1)) {
    if (from == to || contains(filled, from)) continue;
    for (const auto& place : load.held(from)) {
      const double misfit = std::abs(load.bytes_of(place.partition) - wanted.bytes);
      const double cost = place.position == 0 ? wanted.leader_costs * misfit + 1e-9 : misfit;
      const Choice choice{place.partition, from, to};
      if (cost >= least || !allowed(load, choice) || load.change(choice.partition, from, to) > -1e-9)
        continue;
      least = cost;
      best = choice;
    }
  }
  return best;
}

// The replica of `from`, and its new place, that takes away `excess` and improves the balance most.
std::optional<Choice> for_donor(const Load& load, BrokerAt from, double excess) {
  std::optional<Choice> best;
  double least = std::numeric_limits<double>::max();
  for (const BrokerAt to : extremes(load, -1)) {
    if (from == to) continue;
    for (const auto& place : load.held(from)) {
      const Choice choice{place.partition, from, to};
      const double change = load.change(choice.partition, from, to);
      const double cost = change + 4 * square(std::max(0.0, load.bytes_of(place.partition) - excess));
      if (cost >= least || change > -1e-9 || !allowed(load, choice)) continue;
      least = cost;
      best = choice;
    }
  }
  return best;
}

void take(Load& load, const Choice& choice) {
  load.move(choice.partition, choice.from, choice.to);
}

// Replicas and bytes run out together when each replica has the size that is lacking per replica.
// `leader_costs`: the last ones have to fit, whatever they are.
void fill(Load& load, BrokerAt to, const std::vector<BrokerAt>& filled, double leader_costs = 1) {
  constexpr double enough = 0.01;
  while (true) {
    const double bytes = load.any_bytes() ? std::max(0.0, 1 - load.bytes(to)) : 0;
    const double replicas = std::max(0.0, 1 - load.replicas(to));
    if (bytes <= enough && replicas <= 5 * enough) return;
    const double pieces = std::max(1.0, replicas / load.one_replica());
    const auto choice = for_receiver(load, to, {bytes / pieces, pieces > 3 ? leader_costs : 1}, filled);
    if (!choice) return;
    take(load, *choice);
  }
}

bool starved(const Load& load, BrokerAt broker, double below) {
  return (load.any_bytes() && load.bytes(broker) < below) || load.replicas(broker) < below;
}

// The kept brokers, those with the least first.
std::vector<BrokerAt> by_load(const Load& load) {
  std::vector<BrokerAt> order;
  for (BrokerAt broker = 0; broker < load.brokers(); ++broker) {
    if (load.kept(broker)) order.push_back(broker);
  }
  std::stable_sort(order.begin(), order.end(), [&](BrokerAt a, BrokerAt b) {
    return load.bytes(a) + load.replicas(a) < load.bytes(b) + load.replicas(b);
  });
  return order;
}

bool overfull(const Load& load, BrokerAt broker, double tolerance) {
  return load.bytes(broker) > 1 + tolerance || load.replicas(broker) > 1 + tolerance;
}

void relieve(Load& load, BrokerAt from, double tolerance) {
  while (overfull(load, from, tolerance)) {
    const auto choice = for_donor(load, from, std::max(0.0, load.bytes(from) - 1 - tolerance));
    if (!choice) return;
    take(load, *choice);
  }
}

// A plan without new brokers finds nothing to do.
bool is_even(const Load& load, double tolerance) {
  const auto order = by_load(load);
  return std::ranges::none_of(order, [&](BrokerAt broker) {
    return starved(load, broker, 1 - tolerance) || overfull(load, broker, tolerance);
  });
}

constexpr double new_below = 0.5;

// Those that are not new, by what they hold on average.
bool were_even(const Load& load, double tolerance) {
  double bytes = 0, replicas = 0;
  std::vector<BrokerAt> old = by_load(load);
  std::erase_if(old, [&](BrokerAt broker) { return starved(load, broker, new_below); });
  for (const BrokerAt broker : old) {
    bytes += load.bytes(broker) / static_cast<double>(old.size());
    replicas += load.replicas(broker) / static_cast<double>(old.size());
  }
  return std::ranges::all_of(old, [&](BrokerAt broker) {
    return std::abs(load.bytes(broker) - bytes) <= tolerance * bytes &&
           std::abs(load.replicas(broker) - replicas) <= tolerance * replicas;
  });
}

bool fill_those_that_are_new(Load& load, double leader_costs) {
  std::vector<BrokerAt> filled;
  for (const BrokerAt broker : by_load(load)) {
    if (!starved(load, broker, new_below)) continue;
    fill(load, broker, filled, leader_costs);
    filled.push_back(broker);
  }
  return !filled.empty();
}

}  // namespace

// Of replicas that fit alike one that follows: a leader that goes is a change for its clients while data are
// on the way, and leaders come by the order of the lists (leaders.cpp), at the end.  But not when brokers
// were then less even than half of the tolerance: the next plan would soon find something to move.  Nor shall
// it find something when few replicas are there to choose from, and brokers were even before.
bool fill_new(Load& load, double tolerance) {
  const bool even_before = were_even(load, tolerance);
  Load by_followers = load;
  if (!fill_those_that_are_new(load, 1)) return false;
  fill_those_that_are_new(by_followers, 1.2);
  if (is_even(by_followers, tolerance / 2))
    load = std::move(by_followers);
  else if (even_before)
    fill_and_relieve(load, tolerance);
  return true;
}

void fill_and_relieve(Load& load, double tolerance) {
  auto order = by_load(load);
  for (const BrokerAt broker : order) {
    if (starved(load, broker, 1 - tolerance)) fill(load, broker, {});
  }
  std::reverse(order.begin(), order.end());
  for (const BrokerAt broker : order) relieve(load, broker, tolerance);
}

}  // namespace pilot::adaptors::kafka::reassign
