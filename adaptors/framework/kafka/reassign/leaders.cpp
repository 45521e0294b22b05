// Spreads preferred leaders by the order of the lists alone.
#include <algorithm>
#include <cmath>

#include "adaptors/framework/kafka/reassign/load.hpp"

namespace pilot::adaptors::kafka::reassign {

namespace {

using BrokerAt = Load::BrokerAt;

class Leaders {
 public:
  explicit Leaders(Load& load) : load_(load), count_(load.brokers()), led_(load.brokers()) {
    double brokers = 0;
    double leaders = 0;
    for (BrokerAt broker = 0; broker < load.brokers(); ++broker) {
      if (load.kept(broker)) ++brokers;
    }
    for (Load::PartitionAt partition = 0; partition < load.partitions(); ++partition) {
      const auto leader = *load.begin(partition);
      if (!load.kept(leader)) continue;
      ++leaders;
      ++count_[leader];
      led_[leader].push_back(partition);
    }
    constexpr double tolerance = 0.10;  // of a large number of leaders; each swap is a change for its clients
    const double fair = brokers > 0 ? leaders / brokers : 0;
    most_ = static_cast<int>(std::max(std::ceil(fair), std::floor(fair * (1 + tolerance))));
    least_ = static_cast<int>(std::min(std::floor(fair), std::ceil(fair * (1 - tolerance))));
  }

  void spread() {
    for (BrokerAt broker = 0; broker < load_.brokers(); ++broker) {
      if (!load_.kept(broker)) continue;
      while (count_[broker] > most_ && shift(broker, true)) {
      }
      while (count_[broker] < least_ && shift(broker, false)) {
      }
    }
  }

 private:
  struct Step {
    BrokerAt previous;
    Load::PartitionAt partition;
  };
  static constexpr BrokerAt none = static_cast<BrokerAt>(-1);

  // Breadth first from `start` along partitions whose leadership could pass on, to the nearest broker with
  // leaders to spare (`away` false) or with too few (`away` true).
  bool shift(BrokerAt start, bool away) {
    std::vector<Step> reached(load_.brokers(), Step{none, 0});
    std::vector<BrokerAt> queue{start};
    reached[start].previous = start;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto at = queue[i];
      const auto visit = [&](BrokerAt next, Load::PartitionAt partition) {
        if (!load_.kept(next) || reached[next].previous != none) return false;
        reached[next] = {at, partition};
        queue.push_back(next);
        return away ? count_[next] < most_ : count_[next] > least_;
      };
      if (away) {
        for (const auto partition : led_[at]) {
          for (const auto* next = load_.begin(partition) + 1; next < load_.end(partition); ++next) {
            if (visit(*next, partition)) return pass_on(reached, *next, start, true);
          }
        }
      } else {
        for (const auto& place : load_.held(at)) {
          if (place.position == 0) continue;
          const auto next = *load_.begin(place.partition);
          if (visit(next, place.partition)) return pass_on(reached, next, start, false);
        }
      }
    }
    return false;
  }

  bool pass_on(const std::vector<Step>& reached, BrokerAt end, BrokerAt start, bool away) {
    for (BrokerAt at = end; at != start; at = reached[at].previous) {
      const auto& step = reached[at];
      give(step.partition, away ? step.previous : at, away ? at : step.previous);
    }
    return true;
  }

  void give(Load::PartitionAt partition, BrokerAt from, BrokerAt to) {
    load_.lead(partition, to);
    auto& old = led_[from];
    old.erase(std::find(old.begin(), old.end(), partition));
    led_[to].push_back(partition);
    --count_[from];
    ++count_[to];
  }

  Load& load_;
  std::vector<int> count_;
  std::vector<std::vector<Load::PartitionAt>> led_;
  int most_ = 0;
  int least_ = 0;
};

}  // namespace

void spread_leaders(Load& load) {
  Leaders(load).spread();
}

}  // namespace pilot::adaptors::kafka::reassign
