// Leadership that follows the lists of replicas.
#pragma once

#include "adaptors/framework/kafka/rebalance/pace.hpp"

namespace pilot::adaptors::kafka::rebalance {

// Has partitions led by their first replica, where it is in sync, a few at a time: each change is one for its
// clients.  What can't pass now, Kafka's own balancer passes on later.  Answers how many passed.
// Errors: partial, when told to stop; the administrator's.
Result<std::size_t> elect_first_replicas(const Surroundings& on, Portions portions);

}  // namespace pilot::adaptors::kafka::rebalance
