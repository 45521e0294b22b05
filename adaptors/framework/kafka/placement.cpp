#include "adaptors/framework/kafka/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace pilot::adaptors::kafka {

namespace {

constexpr std::uint64_t mebi = 1ULL << 20;
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

Result<Server> server_on(const model::NodeInfo& node, std::string_view role, int first_id, Ports& ports) {
  PILOT_TRY(const int number, number_of(node));
  Server server;
  server.name = fmt::format("{}-{}", role, number);
  PILOT_TRY(const auto port, ports.take(server.name, node));
  server.node = node.id;
  server.id = first_id + number;
  server.address = node.address;
  server.port = port;
  server.folder = fmt::format("{}/kafka/{}", node.scratch, server.name);
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

}  // namespace

std::string Server::endpoint() const {
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port)
                                                : fmt::format("[{}]:{}", address, port);
}

Result<Placement> place(const Options& options, const std::vector<model::NodeInfo>& nodes,
                        const std::map<std::string, std::uint16_t>& kept) {
  std::vector<const model::NodeInfo*> base;
  for (const auto& node : nodes) {
    if (node.allocation == "a0") base.push_back(&node);
  }
  if (static_cast<int>(base.size()) < options.controllers) {
    return make_error(ErrorCode::usage,
                      fmt::format("kafka.controllers is {}, but the pilot's base has {} node{}",
                                  options.controllers, base.size(), base.size() == 1 ? "" : "s"),
                      "each controller wants a node of its own: more nodes, or 'controllers: 1'");
  }
  const bool shrinks = !kept.empty();  // a base that gave nodes back has fewer brokers than it began with
  const int size = static_cast<int>(base.size());
  const int in_base = options.brokers == 0 ? size
                      : shrinks            ? std::min(options.brokers, size)
                                           : options.brokers;
  if (in_base > static_cast<int>(base.size())) {
    return make_error(ErrorCode::usage,
                      fmt::format("kafka.brokers is {}, but there are {} nodes", in_base, base.size()),
                      "one broker runs on a node at most");
  }

  Placement placement;
  Ports ports(kept);
  for (int i = 0; i < options.controllers; ++i) {
    PILOT_TRY(auto controller, server_on(*base[static_cast<std::size_t>(i)], "controller", 1000, ports));
    controller.heap = controller_heap;
    placement.controllers.push_back(std::move(controller));
  }
  int base_nodes = 0;
  for (const auto& node : nodes) {
    if (node.allocation == "a0" && ++base_nodes > in_base) continue;
    const bool with_controller = std::any_of(placement.controllers.begin(), placement.controllers.end(),
                                             [&](const Server& other) { return other.node == node.id; });
    PILOT_TRY(auto broker, server_on(node, "broker", 0, ports));
    PILOT_TRY(broker.heap, broker_heap(options, node, with_controller));
    placement.brokers.push_back(std::move(broker));
  }
  placement.replication = std::min(static_cast<int>(placement.brokers.size()), 3);
  placement.in_sync = placement.replication == 3 ? 2 : 1;
  return placement;
}

}  // namespace pilot::adaptors::kafka
