#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "adaptors/framework/kafka/tool/commands.hpp"
#include "adaptors/framework/kafka/tool/open_cluster.hpp"
#include "pilot/base/contains.hpp"

namespace pilot::adaptors::kafka {

namespace {

std::uint64_t bytes_in(const std::vector<protocol::LogDir>& folders) {
  std::uint64_t bytes = 0;
  for (const auto& folder : folders)
    for (const auto& replica : folder.replicas)
      if (!replica.future) bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(0, replica.bytes));
  return bytes;
}

}  // namespace

// Replicas that are on their way to a broker are not in sync yet and are not missed.
std::string health_problem(const protocol::ClusterState& state,
                           const std::vector<protocol::Ongoing>& ongoing) {
  std::map<std::pair<std::string, int>, const protocol::Ongoing*> moving;
  for (const auto& one : ongoing) moving[{one.topic, one.partition}] = &one;
  const auto is_up = [&](int id) {
    return std::any_of(state.brokers.begin(), state.brokers.end(),
                       [&](const auto& broker) { return broker.id == id; });
  };
  std::size_t all = 0, behind = 0, headless = 0;
  std::set<int> missing;
  for (const auto& topic : state.topics) {
    for (const auto& partition : topic.partitions) {
      ++all;
      const auto move = moving.find({topic.name, partition.index});
      bool whole = true;
      for (const int id : partition.replicas) {
        const bool arriving = move != moving.end() && contains(move->second->adding, id);
        if (arriving || (contains(partition.in_sync, id) && is_up(id))) continue;
        whole = false;
        missing.insert(id);
      }
      behind += whole ? 0 : 1;
      headless += partition.leader < 0 ? 1 : 0;
    }
  }
  if (behind == 0 && headless == 0) return {};
  std::vector<std::string> brokers;
  for (const int id : missing) {
    brokers.push_back(fmt::format("broker {} {}", id, is_up(id) ? "is behind" : "is down"));
  }
  std::string text =
      fmt::format("{} of {} partitions lack a replica in sync ({})", behind, all, fmt::join(brokers, ", "));
  if (headless > 0) text += fmt::format(", {} can't be read or written", headless);
  return text;
}

namespace {

// What could not be removed; empty when nothing had to be.
std::string settle_votes(protocol::ClusterClient& cluster, const std::vector<int>& controllers,
                         const Deadline& deadline) {
  const auto voters = cluster.voters(deadline);
  if (voters.has_error()) return "its controllers do not answer: " + voters.error().text();
  for (const auto& voter : voters.value()) {
    if (voter.active || contains(controllers, voter.id)) continue;
    const auto removed = cluster.remove_voter(voter.id, deadline);
    if (removed.has_error())
      return fmt::format("controller {} is gone and still has a vote: {}", voter.id, removed.error().text());
  }
  return {};
}

}  // namespace

Result<std::string> run_health(const std::vector<std::string>& words) {
  PILOT_TRY(const auto arguments, Arguments::parse(words, {"--config", "--controllers", "--timeout"}));
  PILOT_TRY(const auto timeout, arguments.duration("--timeout", std::chrono::seconds(10)));
  PILOT_TRY(auto cluster, open_cluster(arguments));
  const Deadline deadline(system_clock(), timeout);
  PILOT_TRY(const auto state, cluster.metadata(deadline));
  PILOT_TRY(const auto ongoing, cluster.reassignments(deadline));
  // One that hangs shall not keep the problem from being told.
  const Deadline soon(system_clock(), std::min(deadline.left(), Duration(std::chrono::seconds(2))));
  std::vector<std::string> held;
  for (const auto& broker : state.brokers)
    if (const auto folders = cluster.log_dirs(broker.id, soon); folders.has_value())
      held.push_back(fmt::format(R"("broker-{}": {})", broker.id, bytes_in(folders.value())));
  auto problem = health_problem(state, ongoing);
  if (const auto ids = arguments.text("--controllers", ""); !ids.empty()) {
    PILOT_TRY(const auto controllers, parse_ids(ids));
    const auto votes = settle_votes(cluster, controllers, deadline);
    if (problem.empty()) problem = votes;
  }
  return fmt::format(R"({{"schema": "pilot-kafka.health/1", "problem": {}, "bytes_by_service": {{{}}}}})",
                     json_string(problem), fmt::join(held, ", "));
}

}  // namespace pilot::adaptors::kafka
