#include "adaptors/framework/kafka/placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "pilot/base/contains.hpp"

namespace pilot::adaptors::kafka {

namespace {

constexpr std::uint64_t mebi = 1ULL << 20;
constexpr int first_controller = 1000;  // not itself
constexpr Bytes controller_heap{256 * mebi};
constexpr Bytes least_broker_heap{256 * mebi};
constexpr Bytes most_broker_heap{4096 * mebi};
// Beside its heap a JVM takes class data, code, stacks and buffers (measured: 110 to 160 MiB).
constexpr Bytes beside_heap{192 * mebi};

Result<int> number_of(const model::NodeInfo& node) {
  const auto dash = node.id.rfind('-');
  const std::string_view digits = std::string_view(node.id).substr(dash == std::string::npos ? 0 : dash + 1);
  int number = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (end.ec != std::errc{} || end.ptr != digits.data() + digits.size() || number < 1) {
    return make_error(ErrorCode::internal, fmt::format("node id '{}' has no number", node.id));
  }
  return number;
}

// Gives out the ports of each node in their order, and those that servers have already.
class Ports {
 public:
  explicit Ports(const std::map<std::string, std::uint16_t>& kept) : kept_(kept) {}

  Result<std::uint16_t> take(const std::string& server, const model::NodeInfo& node) {
    if (const auto kept = kept_.find("kafka/" + server); kept != kept_.end()) return kept->second;
    auto& used = used_[node.id];
    if (used < node.free_ports.size()) return node.free_ports[used++];
    return make_error(ErrorCode::usage,
                      fmt::format("{} has {} free ports in the pilot's range, Kafka needs {}", node.id,
                                  node.free_ports.size(), used + 1),
                      "widen network.first_port to network.last_port");
  }

 private:
  const std::map<std::string, std::uint16_t>& kept_;
  std::map<std::string, std::size_t> used_;
};

Result<Server> server_on(const model::NodeInfo& node, std::string_view role, int id, Ports& ports) {
  Server server;
  server.id = id;
  server.name = fmt::format("{}-{}", role, role == "controller" ? id - first_controller : id);
  PILOT_TRY(const auto port, ports.take(server.name, node));
  server.node = node.id;
  server.address = node.address;
  server.port = port;
  server.folder = fmt::format("{}/kafka/{}", node.scratch, server.name);
  server.rack = node.rack.empty() ? node.id : node.rack;
  server.cores = std::max(1, node.cores);
  return server;
}

// A quarter of the node: the rest is the page cache, from which Kafka serves its readers.
Result<Bytes> broker_heap(const Options& options, const model::NodeInfo& node, bool with_controller) {
  const Bytes taken{beside_heap.count + (with_controller ? controller_heap.count + beside_heap.count : 0)};
  const Bytes heap = options.heap.value_or(Bytes{
      std::clamp(node.memory.count / 4 / mebi * mebi, least_broker_heap.count, most_broker_heap.count)});
  if (heap.count + taken.count <= node.memory.count) return heap;
  return make_error(
      ErrorCode::usage,
      fmt::format("{} has {} of memory for Kafka, a broker{} needs {}", node.id, format_bytes(node.memory),
                  with_controller ? " and a controller" : "", format_bytes(Bytes{heap.count + taken.count})),
      options.heap ? "lower kafka.heap or give the node more memory"
                   : "give the node more memory or fewer nodes to the machine");
}

// Nodes of the base open what is there; those beyond it get ids that were never used.
int broker_id(const Reopened& old, int number) {
  if (number <= static_cast<int>(old.brokers.size()))
    return old.brokers[static_cast<std::size_t>(number - 1)];
  return old.highest + number;
}

using Nodes = std::vector<const model::NodeInfo*>;

// Three at most, each on a machine of its own and with room beside the broker.
void add_controllers(Nodes& chosen, const Nodes& nodes, const Options& options, const Present& present) {
  const std::size_t ports = present.ports.empty() ? 2 : 1;  // with the broker's, which runs already
  for (const auto* node : nodes) {
    const bool taken = std::ranges::any_of(
        chosen, [&](const auto* other) { return other == node || other->host == node->host; });
    const bool fits = broker_heap(options, *node, true).has_value() && node->free_ports.size() >= ports;
    if (chosen.size() < 3 && !taken && fits && !contains(present.draining, node->id)) chosen.push_back(node);
  }
}

bool has_controller(const Present& present, const model::NodeInfo& node) {
  const auto number = number_of(node);
  return number.has_value() && present.ports.contains(fmt::format("kafka/controller-{}", number.value()));
}

// Those that run stay until their nodes have gone; of several that join, three shall stay.
Nodes controllers_that_join(const Nodes& nodes, const Options& options, const Present& present) {
  if (present.ports.empty()) {
    Nodes chosen;
    add_controllers(chosen, nodes, options, present);
    return chosen.size() == 3 || nodes.empty() ? chosen : Nodes{nodes.front()};
  }
  Nodes running, staying;
  for (const auto* node : nodes) {
    if (!has_controller(present, *node)) continue;
    running.push_back(node);
    if (!contains(present.draining, node->id)) staying.push_back(node);
  }
  if (running.size() == 1) return running;
  const auto before = staying.size();
  add_controllers(staying, nodes, options, present);
  running.insert(running.end(), staying.begin() + static_cast<std::ptrdiff_t>(before), staying.end());
  return running;
}

Result<Nodes> first_nodes(const Nodes& base, int wished) {
  if (static_cast<int>(base.size()) >= wished) return Nodes(base.begin(), base.begin() + wished);
  return make_error(ErrorCode::usage,
                    fmt::format("kafka.controllers is {}, but the pilot's base has {} node{}", wished,
                                base.size(), base.size() == 1 ? "" : "s"),
                    "each controller wants a node of its own: more nodes, or 'controllers: 1'");
}

}  // namespace

std::string Server::endpoint() const {
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port)
                                                : fmt::format("[{}]:{}", address, port);
}

Result<void> check_reopened(const Reopened& old, const Options& options, int brokers) {
  if (old.brokers.empty()) return ok();
  if (options.data.empty())
    return make_error(ErrorCode::usage, "the data to be opened again lie in 'kafka.data', which is not set",
                      "give the option the value that the stopped pilot had");
  if (options.controllers && *options.controllers != static_cast<int>(old.controllers.size()))
    return make_error(ErrorCode::usage,
                      fmt::format("the data to be opened again have {} controllers, kafka.controllers is {}",
                                  old.controllers.size(), *options.controllers));
  if (brokers < static_cast<int>(old.brokers.size()))
    return make_error(ErrorCode::usage,
                      fmt::format("the data to be opened again lie on {} brokers, and the base has {}",
                                  old.brokers.size(), brokers),
                      fmt::format("-N {} nodes or more", old.brokers.size()));
  return ok();
}

Result<Placement> place(const Options& options, const std::vector<model::NodeInfo>& nodes,
                        const Present& present, bool join) {
  Nodes base;
  for (const auto& node : nodes) {
    if (node.allocation == "a0") base.push_back(&node);
  }
  const Reopened old = present.reopened.value_or(Reopened{});
  Placement placement;
  // Data that outlive the pilot are opened again by all controllers that began with them.
  placement.joining = join && !options.controllers && options.data.empty();
  Nodes chosen;
  if (placement.joining) {
    Nodes all = base;
    for (const auto& node : nodes)
      if (node.allocation != "a0") all.push_back(&node);
    chosen = controllers_that_join(present.ports.empty() ? base : all, options, present);
  } else {
    const int there = std::max(1, static_cast<int>(old.controllers.size()));
    PILOT_TRY(chosen, first_nodes(base, options.controllers.value_or(there)));
  }
  const auto there = static_cast<int>(base.size());
  int in_base = options.brokers == 0 ? there : options.brokers;
  if (in_base > there && present.ports.empty()) {
    return make_error(ErrorCode::usage,
                      fmt::format("kafka.brokers is {}, but there are {} nodes", in_base, base.size()),
                      "one broker runs on a node at most");
  }
  in_base = std::min(in_base, there);  // a node that was lost is done without
  if (present.ports.empty()) PILOT_TRY_VOID(check_reopened(old, options, in_base));

  Ports ports(present.ports);
  for (const auto* node : chosen) {
    PILOT_TRY(const int number, number_of(*node));
    PILOT_TRY(auto controller, server_on(*node, "controller", first_controller + number, ports));
    controller.heap = controller_heap;
    controller.joins = placement.joining && !(present.ports.empty() && placement.controllers.empty());
    controller.reopened = contains(old.controllers, controller.id);
    placement.controllers.push_back(std::move(controller));
  }
  int base_nodes = 0;
  for (const auto& node : nodes) {
    if (node.allocation == "a0" && ++base_nodes > in_base) continue;
    const bool with_controller = std::any_of(placement.controllers.begin(), placement.controllers.end(),
                                             [&](const Server& other) { return other.node == node.id; });
    PILOT_TRY(const int number, number_of(node));
    PILOT_TRY(auto broker, server_on(node, "broker", broker_id(old, number), ports));
    PILOT_TRY(broker.heap, broker_heap(options, node, with_controller));
    broker.reopened = contains(old.brokers, broker.id);
    placement.brokers.push_back(std::move(broker));
  }
  placement.replication = std::min(static_cast<int>(placement.brokers.size()), 3);
  placement.in_sync = placement.replication == 3 ? 2 : 1;
  return placement;
}

Result<std::optional<Reopened>> parse_reopened(const std::map<std::string, std::string>& kept) {
  if (kept.empty()) return std::optional<Reopened>();
  const auto text = [&](const char* key) {
    const auto found = kept.find(key);
    return found == kept.end() ? std::string() : found->second;
  };
  const auto ids = [](const std::string& list) {
    std::vector<int> all;
    for (const char* at = list.data(); at < list.data() + list.size();) {
      int id = 0;
      const auto end = std::from_chars(at, list.data() + list.size(), id);
      if (end.ec != std::errc{} || id < 1) return std::vector<int>();
      all.push_back(id);
      at = end.ptr + 1;  // behind the comma
    }
    return all;
  };
  Reopened reopened{text("cluster"), ids(text("controllers")), ids(text("brokers")), 0};
  const auto highest = ids(text("highest"));
  if (reopened.cluster.empty() || reopened.controllers.empty() || reopened.brokers.empty() ||
      highest.size() != 1)
    return make_error(ErrorCode::usage, "what the stopped pilot noted of its Kafka data can't be understood",
                      "it was made by another version");
  reopened.highest = highest.front();
  return std::optional(std::move(reopened));
}

std::map<std::string, std::string> to_kept(const Reopened& reopened) {
  return {{"cluster", reopened.cluster},
          {"controllers", fmt::format("{}", fmt::join(reopened.controllers, ","))},
          {"brokers", fmt::format("{}", fmt::join(reopened.brokers, ","))},
          {"highest", std::to_string(reopened.highest)}};
}

}  // namespace pilot::adaptors::kafka
