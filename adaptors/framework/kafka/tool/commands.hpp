// The verbs of pilot-kafka.  Each gets the words after its name and answers with the JSON object that is
// printed on standard output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adaptors/framework/kafka/protocol/messages.hpp"
#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka {

// format --config server.properties --cluster-id ID [--template bootstrap.checkpoint --voters ID@H:P,...]
// [--existing]  With --existing, makes nothing: not_found when a directory is not of this cluster yet; the
// quorum that is there is moved to the voters' endpoints.  Else prepares the log directories of a broker or
// of a controller (template then needed): one of a new quorum's voters, or, without voters, one that joins
// the quorum there is.  Directories already of this cluster are left as they are.  Errors: usage; failed,
// when a directory belongs to another cluster or node or can't be written.
Result<std::string> run_format(const std::vector<std::string>& words);

// ready --config FILE --broker HOST:PORT --id N [--expect 1,2,3] [--timeout 5s]
// Succeeds once the broker at HOST:PORT answers Metadata to this client and lists N and all expected
// ones.  A refused connection is tried again until the time is over, a wrong password is not.
// Errors: usage; timed_out, with what stood in the way; failed (refused for good).
Result<std::string> run_ready(const std::vector<std::string>& words);

// voter --config FILE --id N [--timeout 5s]
// Succeeds once controller N votes in the quorum, as any broker tells.
// Errors: usage; timed_out, with those that do; failed, unavailable (no broker answers).
Result<std::string> run_voter(const std::vector<std::string>& words);

// topic list | describe NAME | create NAME [--partitions N] [--replicas N] [--set key=value,...]
// [--if-absent] | grow NAME --partitions N  All with --config FILE [--timeout 10s].  `create` and `grow`
// return once each partition has a leader; `describe` tells the bytes of each replica.
// Errors: usage; not_found (no such topic); timed_out; failed, in the broker's words.
Result<std::string> run_topic(const std::vector<std::string>& words);

// rebalance --config FILE [--keep IDS] [--drain IDS] [--throttle RATE|auto|none] [--no-unregister]
// [--as-far-as-possible] [--timeout T] [--json] [--check [--leave CONTROLLERS]]  Brings replicas, leaders and
// bytes into balance over the brokers to keep (default: all that are up) and empties those to drain; see
// rebalance/rebalance.hpp.  T is the time without progress after which it gives up (default 2m).  Progress on
// standard error, and with --json as objects on lines of standard output.  Errors: usage; partial (stalled,
// stopped by a signal); failed, timed_out, unavailable.
Result<std::string> run_rebalance(const std::vector<std::string>& words);

// unregister --config FILE [--broker ID] [--controller ID] [--timeout 30s], of servers that were stopped: the
// broker is forgotten, the controller votes no more; one that is not there is success.  Errors: usage; failed
// (the broker is up; too few controllers are); timed_out, unavailable.
Result<std::string> run_unregister(const std::vector<std::string>& words);

// health --config FILE [--controllers IDS] [--timeout 10s]  What is wrong with the replicas of all
// partitions, as
// {"problem": "2 of 9 partitions ..."}; an empty text when all are in sync.  Removes the votes of silent
// controllers that are not among these: they count, and nobody casts them.  Errors: usage; timed_out,
// unavailable (no broker answers).
Result<std::string> run_health(const std::vector<std::string>& words);

// The text of it.
std::string health_problem(const protocol::ClusterState& state,
                           const std::vector<protocol::Ongoing>& ongoing);

// Why these controllers can't leave; empty when those that stay and are active are a majority.
std::string quorum_problem(const std::vector<protocol::Voter>& voters, const std::vector<int>& leave);

// The signal that asked run_rebalance to stop, or 0.
int stop_signal();

// The text as a JSON string, with its quotes.
std::string json_string(std::string_view text);

}  // namespace pilot::adaptors::kafka
