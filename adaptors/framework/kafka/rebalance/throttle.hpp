// Replication throttles: a rate on brokers, and on topics which replicas it holds for (KIP-73).  And cordons:
// brokers on which no new partition is placed.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/protocol/administrator.hpp"
#include "adaptors/framework/kafka/reassign/planner.hpp"

namespace pilot::adaptors::kafka::rebalance {

// Bytes per second.
using Rate = std::uint64_t;

// For moves: what the present replicas send to those that are not in sync.  Nothing for what the new ones
// receive: a follower throttles itself whenever it is a message behind, in sync or not, and then producers
// that want all acknowledgements wait for it (seen: 23 s at 2 MiB/s).
Result<void> throttle_topics(protocol::Administrator& cluster, const std::vector<reassign::Move>& moves,
                             const Deadline& deadline);

struct BrokerRates {
  // Whatever leaders of throttled partitions send to followers counts, to those in sync too, which don't
  // wait.
  Rate send = 0;
  Rate copy = 0;  // between the broker's log directories
  bool operator==(const BrokerRates&) const = default;
};
Result<void> throttle_broker(protocol::Administrator& cluster, int broker, BrokerRates rates,
                             const Deadline& deadline);

// Takes a broker's throttle off without asking whether it has one: it may not have heard of it yet.
Result<void> release_broker(protocol::Administrator& cluster, int broker, const Deadline& deadline);

// Takes the throttles off these topics and nothing else.
Result<void> release_topics(protocol::Administrator& cluster, const std::set<std::string>& topics,
                            const Deadline& deadline);

// Takes every throttle off all brokers that are up and all topics, whoever set it, and reads them back until
// none is left, calling `wait` between looks.  Answers how many brokers and topics had some.
// Errors: those of the administrator; timed_out, naming what is left.
Result<int> release_all(protocol::Administrator& cluster, const Deadline& deadline,
                        const std::function<void()>& wait);

// Places no new partition on the broker, or does so again.  Kafka before 4.3 knows no cordons: false.
Result<bool> cordon(protocol::Administrator& cluster, int broker, bool on, const Deadline& deadline);

}  // namespace pilot::adaptors::kafka::rebalance
