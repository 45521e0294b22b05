// Times the planner of partition moves; see README.md.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <map>

#include "adaptors/framework/kafka/reassign/folders.hpp"
#include "adaptors/framework/kafka/reassign/random_cluster.hpp"

namespace {

namespace reassign = pilot::adaptors::kafka::reassign;
using reassign::Role;

// Drain: what the drained hold.  Add: the fair share of those that hold nothing.
double lower_bound(const reassign::Cluster& cluster) {
  std::map<int, double> held;
  double total = 0;
  for (const auto& partition : cluster.partitions) {
    for (const int id : partition.replicas) held[id] += static_cast<double>(partition.size.count);
    total += static_cast<double>(partition.size.count * partition.replicas.size());
  }
  double drained = 0;
  double kept = 0;
  double empty = 0;
  for (const auto& broker : cluster.brokers) {
    if (broker.role == Role::drain) drained += held[broker.id];
    if (broker.role == Role::keep) ++kept;
    if (broker.role == Role::keep && held.count(broker.id) == 0) ++empty;
  }
  return std::max(drained, empty * total / kept);
}

bool run(const char* name, const reassign::Cluster& cluster) {
  const double bound = lower_bound(cluster);
  const auto start = std::chrono::steady_clock::now();
  const auto plan = reassign::plan(cluster.brokers, cluster.partitions);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!plan.has_value()) {
    fmt::print(stderr, "{}\n", plan.error().text());
    return false;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double ratio = static_cast<double>(plan.value().moved.count) / bound;
  fmt::print(
      R"({{"case": "{}", "brokers": {}, "partitions": {}, "moves": {}, "seconds": {:.3f}, "peak_mb": {}, )"
      R"("moved_over_lower_bound": {:.4f}}})"
      "\n",
      name, cluster.brokers.size(), cluster.partitions.size(), plan.value().moves.size(), took.count(),
      usage.ru_maxrss / 1024, ratio);
  return took.count() <= 1 && usage.ru_maxrss <= 500 * 1024 && ratio <= 1.05;
}

// Replicas of each broker come to, and then move between, two to five log directories.
bool run_folders(const reassign::Cluster& cluster) {
  std::map<int, std::vector<reassign::Replica>> held;
  for (const auto& partition : cluster.partitions) {
    for (const int id : partition.replicas)
      held[id].push_back({partition.topic, partition.index, partition.size});
  }
  const auto start = std::chrono::steady_clock::now();
  std::size_t moves = 0;
  for (auto& [id, replicas] : held) {
    std::vector<reassign::Folder> folders(2 + static_cast<std::size_t>(id % 4));
    for (std::size_t at = 0; at < folders.size(); ++at)
      folders[at] = {fmt::format("/{}", at), pilot::Bytes{1ull << 60}, {}};
    const auto middle = replicas.begin() + static_cast<std::ptrdiff_t>(replicas.size() / 2);
    folders[0].replicas.assign(replicas.begin(), middle);
    moves += reassign::even_out(folders).size();
    moves += reassign::place(folders, {middle, replicas.end()}).size();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print(
      R"({{"case": "log directories", "brokers": {}, "partitions": {}, "moves": {}, "seconds": {:.3f}}})"
      "\n",
      cluster.brokers.size(), cluster.partitions.size(), moves, took.count());
  return took.count() <= 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int brokers = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int partitions = argc > 2 ? std::atoi(argv[2]) : 100000;
  const int changed = argc > 3 ? std::atoi(argv[3]) : 10;
  if (brokers < 4 || partitions < 1 || changed < 1 || changed > brokers - 3) {
    fmt::print(stderr, "usage: planner_bench [BROKERS [PARTITIONS [CHANGED]]]\n");
    return 2;
  }
  bool good = true;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto before = reassign::random_cluster({brokers, partitions, 3, 100}, seed);
    auto grown = before;
    for (int i = 0; i < changed; ++i) grown.brokers.push_back({brokers + 1 + i, ""});
    auto shrunk = before;
    for (int i = 0; i < changed; ++i)
      shrunk.brokers[static_cast<std::size_t>(i * (brokers / changed))].role = Role::drain;
    auto replaced = grown;
    for (int i = 0; i < changed; ++i) replaced.brokers[static_cast<std::size_t>(i)].role = Role::drain;
    good = run("add", grown) && good;
    good = run("drain", shrunk) && good;
    good = run("replace", replaced) && good;
    good = run_folders(before) && good;
  }
  return good ? 0 : 1;
}
