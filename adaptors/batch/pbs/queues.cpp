#include "adaptors/batch/pbs/queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "adaptors/batch/host/job_script.hpp"
#include "pilot/base/units.hpp"

namespace pilot::adaptors::pbs {
namespace {

using nlohmann::json;

json parse(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  return document.is_object() ? document : json::object();
}

json member(const json& object, const char* name) {
  return object.is_object() && object.contains(name) ? object.at(name) : json();
}

// Numbers come as numbers or as text.
std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : std::string();
}

std::optional<int> count_of(const json& value) {
  const std::string text = text_of(value);
  int count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && stop == text.data() + text.size() ? std::optional(count) : std::nullopt;
}

// "24684084kb" is what others call kB of 1024.
Bytes bytes_of(const json& value) {
  std::string text = text_of(value);
  if (text.size() > 2 && text.ends_with('b')) text.pop_back();
  const auto bytes = parse_bytes(text);
  return bytes.has_value() ? bytes.value() : Bytes{};
}

Error too_much(const std::string& what, const std::string& hint) {
  return make_error(ErrorCode::usage, "the job would never run: " + what, hint);
}

}  // namespace

std::vector<Queue> parse_queues(std::string_view text) {
  std::vector<Queue> queues;
  const json document = parse(text);
  const json found = member(document, "Queue");
  for (const auto& [name, attributes] : found.items()) {
    Queue queue;
    queue.name = name;
    queue.takes_jobs = text_of(member(attributes, "enabled")) != "False";
    const json most = member(attributes, "resources_max");
    queue.most_nodes = count_of(member(most, "nodect"));
    if (const auto time = parse_duration(text_of(member(most, "walltime"))); time.has_value())
      queue.longest = time.value();
    queues.push_back(std::move(queue));
  }
  return queues;
}

// Vnodes of one host are one node to a job that scatters.
std::vector<Node> parse_nodes(std::string_view text) {
  std::map<std::string, Node> hosts;
  const json document = parse(text);
  const json found = member(document, "nodes");
  for (const auto& [name, attributes] : found.items()) {
    const json available = member(attributes, "resources_available");
    std::string host = text_of(member(available, "host"));
    if (host.empty()) host = name;
    Node& node = hosts[host];
    node.host = host;
    node.cores += count_of(member(available, "ncpus")).value_or(0);
    node.memory.count += bytes_of(member(available, "mem")).count;
  }
  std::vector<Node> nodes;
  for (auto& [host, node] : hosts) nodes.push_back(std::move(node));
  return nodes;
}

Result<void> fits_queue(const plugin::AllocationRequest& request, const std::vector<Queue>& queues) {
  const model::PilotSpec& spec = request.spec;
  const auto queue = std::ranges::find(queues, host::option(spec, "queue"), &Queue::name);
  if (queue == queues.end()) return ok();
  const std::string hint = "'qstat -Qf' shows the limits of queues";
  if (queue->most_nodes && request.nodes > *queue->most_nodes)
    return too_much(fmt::format("queue '{}' allows {} nodes a job, {} are wanted", queue->name,
                                *queue->most_nodes, request.nodes),
                    hint);
  if (queue->longest && spec.walltime && *spec.walltime > *queue->longest)
    return too_much(fmt::format("queue '{}' allows {}, {} is wanted", queue->name,
                                format_duration(*queue->longest), format_duration(*spec.walltime)),
                    hint);
  return ok();
}

Result<void> fits_nodes(const plugin::AllocationRequest& request, const std::vector<Node>& nodes) {
  if (nodes.empty()) return ok();
  const model::PilotSpec& spec = request.spec;
  const auto large_enough = std::ranges::count_if(nodes, [&](const Node& node) {
    return node.cores >= spec.cores_per_node && node.memory >= spec.memory_per_node;
  });
  if (request.nodes <= large_enough) return ok();
  std::string what = fmt::format("there are {} nodes", nodes.size());
  if (large_enough < static_cast<std::ptrdiff_t>(nodes.size()))
    what += fmt::format(", {} of them large enough", large_enough);
  return too_much(fmt::format("{}, {} are wanted", what, request.nodes), "'pbsnodes -av' lists them");
}

}  // namespace pilot::adaptors::pbs
