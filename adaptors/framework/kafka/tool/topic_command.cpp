#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "adaptors/framework/kafka/protocol/cluster_client.hpp"
#include "adaptors/framework/kafka/tool/arguments.hpp"
#include "adaptors/framework/kafka/tool/client.hpp"
#include "adaptors/framework/kafka/tool/commands.hpp"
#include "adaptors/framework/kafka/tool/properties.hpp"
#include "pilot/base/suggest.hpp"

namespace pilot::adaptors::kafka {

namespace {

std::string to_json(const TopicInfo& topic, const std::string& more = "") {
  std::vector<std::string> partitions;
  for (const auto& partition : topic.partitions) {
    partitions.push_back(fmt::format(R"({{"id": {}, "leader": {}, "replicas": [{}], "in_sync": [{}]}})",
                                     partition.id, partition.leader, fmt::join(partition.replicas, ", "),
                                     fmt::join(partition.in_sync, ", ")));
  }
  const bool internal = topic.name.starts_with("__");
  return fmt::format(R"({{"name": {}, "internal": {}, "partitions": [{}]{}}})", json_string(topic.name),
                     internal, fmt::join(partitions, ", "), more);
}

// What else there is: the nearest name.
std::string others(Client& client, const std::string& name, const Deadline& deadline) {
  const auto all = client.metadata("*", deadline);
  std::vector<std::string> names;
  if (all.has_value())
    for (const auto& topic : all.value().topics)
      if (!topic.name.starts_with("__")) names.push_back(topic.name);
  return names.empty() ? "there is none yet" : suggestion(name, names);
}

Result<TopicInfo> describe(Client& client, const std::string& name, const Deadline& deadline) {
  PILOT_TRY(const auto metadata, client.metadata(name, deadline));
  const auto at = std::find_if(metadata.topics.begin(), metadata.topics.end(),
                               [&](const TopicInfo& topic) { return topic.name == name; });
  if (at == metadata.topics.end() || at->missing)
    return make_error(ErrorCode::not_found, fmt::format("there is no topic '{}'", name),
                      others(client, name, deadline));
  if (!at->error.empty())
    return make_error(ErrorCode::failed, fmt::format("topic '{}': {}", name, at->error));
  return *at;
}

// "retention.ms=1000,max.message.bytes=5": a comma ends a pair when a '=' comes before the next one.
Result<std::vector<std::pair<std::string, std::string>>> parse_settings(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto part = text.substr(begin, end - begin);
    const auto equals = part.find('=');
    if (equals == 0 || (equals == std::string::npos && settings.empty())) {
      return make_error(ErrorCode::usage, fmt::format("'--set {}' is not of the form key=value,...", text));
    }
    if (equals == std::string::npos) {
      settings.back().second += "," + part;
    } else {
      settings.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    begin = end + 1;
  }
  return settings;
}

// Once it has at least `partitions` and each of them a leader, which are elected a moment later.
Result<TopicInfo> with_leaders(Client& client, const std::string& name, std::size_t partitions,
                               const Deadline& deadline) {
  while (true) {
    auto topic = describe(client, name, deadline);
    const bool known = topic.has_value() && topic.value().partitions.size() >= partitions &&
                       std::all_of(topic.value().partitions.begin(), topic.value().partitions.end(),
                                   [](auto& p) { return p.leader >= 0; });
    if (known) return topic;
    if (deadline.passed()) {
      return make_error(ErrorCode::timed_out,
                        fmt::format("topic '{}' was made, but not all of its partitions have a leader", name),
                        "'pilot status' shows the brokers");
    }
    client.poll(std::chrono::milliseconds(20));
  }
}

Result<std::string> create(Client& client, const std::string& name, const Arguments& arguments,
                           const Deadline& deadline) {
  NewTopic wish{name, 1, -1, {}};
  PILOT_TRY(wish.partitions, arguments.number("--partitions", 1));
  PILOT_TRY(const int replicas, arguments.number("--replicas", 0));
  if (replicas > 0) wish.replicas = replicas;
  PILOT_TRY(wish.config, parse_settings(arguments.text("--set", "")));
  bool exists = false;
  const auto created = client.create(wish, deadline, exists);
  if (!created.has_value() && !(exists && arguments.has("--if-absent"))) return created.error();
  PILOT_TRY(const auto topic, with_leaders(client, name, 1, deadline));
  return fmt::format(R"({{"schema": "pilot-kafka.topic/1", "created": {}, "topic": {}}})", !exists,
                     to_json(topic));
}

Result<std::string> grow(Client& client, const std::string& name, const Arguments& arguments,
                         const Deadline& deadline) {
  constexpr auto caution =
      "keyed messages now go to other partitions: of one key, those written before and after are in no order";
  PILOT_TRY_VOID(arguments.required("--partitions"));
  PILOT_TRY(const int wanted, arguments.number("--partitions", 0));
  PILOT_TRY(const auto before, describe(client, name, deadline));
  const auto had = before.partitions.size();
  if (static_cast<std::size_t>(wanted) < had) {
    return make_error(ErrorCode::usage,
                      fmt::format("topic '{}' has {} partitions and can't have {}", name, had, wanted),
                      "partitions can't be taken away; make another topic");
  }
  const bool grows = static_cast<std::size_t>(wanted) > had;
  if (grows) PILOT_TRY_VOID(client.grow(name, wanted, deadline));
  PILOT_TRY(const auto topic, with_leaders(client, name, static_cast<std::size_t>(wanted), deadline));
  if (grows) std::fprintf(stderr, "pilot-kafka: %s\n", caution);
  return fmt::format(R"({{"schema": "pilot-kafka.topic/1", "grown_from": {}, "caution": {}, "topic": {}}})",
                     had, grows ? json_string(caution) : "null", to_json(topic));
}

// What replicas take on each broker's disks: by topic, {"1": 4096}.  Empty when the brokers don't tell: a
// cluster whose log-in only librdkafka knows.
std::map<std::string, std::string> bytes_by_broker(const std::string& config,
                                                   const std::vector<TopicInfo>& topics,
                                                   const Deadline& deadline) {
  const auto properties = read_properties(config);
  auto access = properties.has_value() ? protocol::access_from(properties.value()) : properties.error();
  if (!access.has_value()) return {};
  protocol::ClusterClient cluster(std::move(access).value());
  std::map<std::string, std::map<int, std::int64_t>> bytes;
  std::set<int> brokers;
  for (const auto& topic : topics)
    for (const auto& partition : topic.partitions)
      for (const int id : partition.replicas) bytes[topic.name][id] = 0, brokers.insert(id);
  for (const int id : brokers) {
    const auto folders = cluster.log_dirs(id, deadline);
    if (!folders.has_value()) continue;  // it is down: what is known of the others is said
    for (const auto& folder : folders.value())
      for (const auto& replica : folder.replicas)
        if (const auto at = bytes.find(replica.topic); at != bytes.end()) at->second[id] += replica.bytes;
  }
  std::map<std::string, std::string> said;
  for (const auto& [topic, by_broker] : bytes) {
    std::vector<std::string> entries;
    for (const auto& [id, sum] : by_broker) entries.push_back(fmt::format(R"("{}": {})", id, sum));
    said[topic] = fmt::format("{{{}}}", fmt::join(entries, ", "));
  }
  return said;
}

std::string with_bytes(const TopicInfo& topic, const std::map<std::string, std::string>& bytes) {
  const auto found = bytes.find(topic.name);
  return to_json(topic,
                 fmt::format(R"(, "bytes_by_broker": {})", found == bytes.end() ? "null" : found->second));
}

Result<std::string> list(Client& client, const std::string& config, const Deadline& deadline) {
  PILOT_TRY(auto metadata, client.metadata("*", deadline));
  std::sort(metadata.topics.begin(), metadata.topics.end(), [](auto& a, auto& b) { return a.name < b.name; });
  const auto bytes = bytes_by_broker(config, metadata.topics, deadline);
  std::vector<std::string> topics;
  for (const auto& topic : metadata.topics) topics.push_back(with_bytes(topic, bytes));
  return fmt::format(R"({{"schema": "pilot-kafka.topics/1", "topics": [{}]}})", fmt::join(topics, ", "));
}

}  // namespace

Result<std::string> run_topic(const std::vector<std::string>& words) {
  PILOT_TRY(const auto arguments,
            Arguments::parse(words, {"--config", "--timeout", "--partitions", "--replicas", "--set"},
                             {"--if-absent"}));
  const auto& said = arguments.words();
  const auto verb = said.empty() ? "" : said[0];
  const std::size_t wanted = verb == "list" ? 1 : 2;
  if ((verb != "list" && verb != "describe" && verb != "create" && verb != "grow") || said.size() != wanted) {
    return make_error(ErrorCode::usage, "'topic' wants: list, describe NAME, create NAME, or grow NAME");
  }
  PILOT_TRY(const auto config, arguments.required("--config"));
  PILOT_TRY(const auto timeout, arguments.duration("--timeout", std::chrono::seconds(10)));
  const Deadline deadline(system_clock(), timeout);
  PILOT_TRY(auto client, Client::open(config, {}));
  if (verb == "list") return list(client, config, deadline);
  if (verb == "create") return create(client, said[1], arguments, deadline);
  if (verb == "grow") return grow(client, said[1], arguments, deadline);
  PILOT_TRY(const auto topic, describe(client, said[1], deadline));
  const auto bytes = bytes_by_broker(config, {topic}, deadline);
  return fmt::format(R"({{"schema": "pilot-kafka.topic/1", "topic": {}}})", with_bytes(topic, bytes));
}

}  // namespace pilot::adaptors::kafka
