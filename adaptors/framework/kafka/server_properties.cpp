#include "adaptors/framework/kafka/server_properties.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace pilot::adaptors::kafka {

namespace {

// A pilot has one user, who owns everything in it; servers speak to each other as the same user.
constexpr std::string_view login =
    "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"pilot\" "
    "password=\"${secret:kafka.password}\"";

// In the order of writing.  set() replaces, so that users' settings win over defaults.
class Lines {
 public:
  template <typename Value>
  void set(const std::string& key, const Value& value) {
    const auto same = [&](const auto& line) { return line.first == key; };
    auto at = std::find_if(lines_.begin(), lines_.end(), same);
    if (at == lines_.end()) at = lines_.insert(at, {key, {}});
    at->second = fmt::format("{}", value);
  }

  std::string text() const {
    std::string out;
    for (const auto& [key, value] : lines_) {
      out += key;
      out += '=';
      for (const char c : value) {  // Java takes the letter after a backslash for itself
        if (c == '\\') out += '\\';
        out += c;
      }
      out += '\n';
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

void set_security(Lines& lines, const Cluster& cluster, const Server& server) {
  const std::string_view protocol = cluster.encrypt ? "SASL_SSL" : "SASL_PLAINTEXT";
  lines.set("listener.security.protocol.map", fmt::format("CONTROLLER:{0},CLIENT:{0}", protocol));
  lines.set("sasl.enabled.mechanisms", "PLAIN");
  lines.set("sasl.mechanism.controller.protocol", "PLAIN");
  lines.set("sasl.mechanism.inter.broker.protocol", "PLAIN");
  for (const std::string listener : {"controller", "client"}) {
    const auto prefix = "listener.name." + listener;
    lines.set(prefix + ".sasl.enabled.mechanisms", "PLAIN");
    lines.set(prefix + ".plain.sasl.jaas.config",
              fmt::format("{} user_pilot=\"${{secret:kafka.password}}\";", login));
  }
  lines.set("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
  lines.set("super.users", "User:pilot");
  if (!cluster.encrypt) return;
  lines.set("ssl.keystore.type", "PEM");
  lines.set("ssl.keystore.location", server.folder + "/identity.pem");
  lines.set("ssl.truststore.type", "PEM");
  lines.set("ssl.truststore.location", server.folder + "/ca.pem");
}

// What controllers and brokers both want: a topic's defaults are read from the one or the other.
Lines common(const Cluster& cluster, const Server& server, std::string_view role, std::string_view listener) {
  const auto& placement = cluster.placement;
  std::vector<std::string> voters;
  for (const auto& controller : placement.controllers) voters.push_back(controller.endpoint());
  Lines lines;
  lines.set("process.roles", role);
  lines.set("node.id", server.id);
  lines.set("listeners", fmt::format("{}://{}", listener, server.endpoint()));
  lines.set("advertised.listeners", fmt::format("{}://{}", listener, server.endpoint()));
  lines.set("controller.listener.names", "CONTROLLER");
  lines.set("controller.quorum.bootstrap.servers", fmt::format("{}", fmt::join(voters, ",")));
  lines.set("log.dirs", fmt::format("{}", fmt::join(data_folders(cluster, server), ",")));
  set_security(lines, cluster, server);
  lines.set("message.max.bytes", cluster.options.max_message.count);
  lines.set("min.insync.replicas", placement.in_sync);
  // A topic made by its first use got its replication from the broker before 4.3; now a broker that has
  // the setting complains at each turn.
  if (role == "controller" || !cluster.is_at_least(4, 3)) {
    lines.set("default.replication.factor", placement.replication);
  }
  return lines;
}

void set_internal_topics(Lines& lines, const Placement& placement) {
  // Kafka makes 50 partitions each, for clusters that live for years; every one is a replica to recover,
  // to move and to elect.
  constexpr int partitions = 8;
  for (const std::string topic :
       {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
    lines.set(topic + ".num.partitions", partitions);
    lines.set(topic + ".replication.factor", placement.replication);
    if (topic != "offsets.topic") lines.set(topic + ".min.isr", placement.in_sync);
  }
}

void set_sizes(Lines& lines, const Cluster& cluster, const Server& server) {
  const auto message = cluster.options.max_message.count;
  lines.set("fetch.max.bytes", std::max<std::uint64_t>(57671680, message));
  lines.set("socket.request.max.bytes", std::max<std::uint64_t>(104857600, message + 1048576));
  // The kernel finds the size of a connection's buffers; Kafka's fixed 100 KiB throttle large frames.
  lines.set("socket.send.buffer.bytes", -1);
  lines.set("socket.receive.buffer.bytes", -1);
  lines.set("num.network.threads", std::clamp(server.cores / 2, 2, 8));
  lines.set("num.io.threads", std::clamp(server.cores * 2, 4, 32));
  lines.set("num.recovery.threads.per.data.dir", std::clamp(server.cores, 1, 8));
  // Kafka takes and clears 128 MiB at start, for compaction of far more keys than a pilot has.
  lines.set("log.cleaner.dedupe.buffer.size", 16777216);
}

// So that producers which want all acknowledgements hardly feel it when partitions move and leaders change: a
// broker answers the requests of a connection one after the other, and one that waits for a follower holds up
// all.
void set_replication(Lines& lines, const Cluster& cluster, const Server& server) {
  // Of a partition, and in all; at least one batch, however large.  A throttled leader sends one such answer
  // before it looks at its rate, and the follower does nothing else while it writes it: on two cores
  // producers felt each MiB that one partition was behind (tests/bench/elastic/move_bench).
  lines.set("replica.fetch.max.bytes", server.few_cores() ? 131072 : 1048576);
  lines.set("replica.fetch.response.max.bytes", server.few_cores() ? 1048576 : 2097152);
  lines.set("num.replica.fetchers", std::clamp(server.cores / 4, 1, 4));
  // A throttle counts over its windows: with Kafka's eleven of a second a move begins with ten seconds' worth
  // at full speed, and so does each step up.
  lines.set("replication.quota.window.num", 1);
  // A follower that hears of a new leader before that leader does asks in vain, and then again (Kafka: 1 s
  // later).
  lines.set("replica.fetch.backoff.ms", 20);
  // Partitions that a follower gets to follow are in its next fetch, and it waits so long when nothing is
  // written to the others (Kafka: 500 ms).  Each broker asks all others.
  lines.set("replica.fetch.wait.max.ms",
            std::clamp(10 * static_cast<int>(cluster.placement.brokers.size()), 30, 500));
}

void set_client_security(Lines& lines, const Cluster& cluster) {
  lines.set("bootstrap.servers", cluster.bootstrap_servers());
  lines.set("security.protocol", cluster.encrypt ? "SASL_SSL" : "SASL_PLAINTEXT");
}

}  // namespace

std::vector<std::string> data_folders(const Cluster& cluster, const Server& server) {
  std::vector<std::string> folders;
  for (const auto& folder : cluster.options.data)
    folders.push_back(fmt::format("{}/kafka-{}/{}", folder, cluster.id, server.name));
  if (folders.empty()) folders.push_back(server.folder + "/data");
  return folders;
}

std::string Cluster::bootstrap_servers() const {
  std::vector<std::string> endpoints;
  for (const auto& broker : placement.brokers) endpoints.push_back(broker.endpoint());
  return fmt::format("{}", fmt::join(endpoints, ","));
}

bool Cluster::is_at_least(int major, int minor) const {
  int numbers[2] = {0, 0};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& number : numbers) {
    at = std::from_chars(at, end, number).ptr;
    if (at != end) ++at;
  }
  return std::pair(numbers[0], numbers[1]) >= std::pair(major, minor);
}

std::string controller_properties(const Cluster& cluster, const Server& server) {
  auto lines = common(cluster, server, "controller", "CONTROLLER");
  if (server.joins) lines.set("controller.quorum.auto.join.enable", "true");
  for (const auto& [key, value] : cluster.options.config) lines.set(key, value);
  return lines.text();
}

std::string broker_properties(const Cluster& cluster, const Server& server) {
  auto lines = common(cluster, server, "broker", "CLIENT");
  lines.set("inter.broker.listener.name", "CLIENT");
  lines.set("broker.rack", server.rack);
  // It starts before its controller listens, and would end after a minute of asking; how long a start may
  // take is the pilot's to say.
  lines.set("initial.broker.registration.timeout.ms", 600000);
  set_internal_topics(lines, cluster.placement);
  set_sizes(lines, cluster, server);
  set_replication(lines, cluster, server);
  // A mistyped topic is an error, and asking about one does not make it with the wrong partitions.
  lines.set("auto.create.topics.enable", "false");
  lines.set("group.initial.rebalance.delay.ms", 0);  // a group of one starts at once
  for (const auto& [key, value] : cluster.options.config) lines.set(key, value);
  return lines.text();
}

std::vector<model::FileSpec> tls_files(const Cluster& cluster, const Server& server) {
  if (!cluster.encrypt) return {};
  return {{server.folder + "/identity.pem", fmt::format("${{tls:identity:{}}}", server.address), 0600},
          {server.folder + "/ca.pem", "${tls:ca}", 0600}};
}

std::string java_client_properties(const Cluster& cluster, const std::string& ca) {
  Lines lines;
  set_client_security(lines, cluster);
  lines.set("sasl.mechanism", "PLAIN");
  lines.set("sasl.jaas.config", fmt::format("{};", login));
  if (cluster.encrypt) {
    lines.set("ssl.truststore.type", "PEM");
    lines.set("ssl.truststore.location", ca);
  }
  lines.set("max.request.size", cluster.options.max_message.count);
  lines.set("max.partition.fetch.bytes", cluster.options.max_message.count);
  return lines.text();
}

std::string librdkafka_properties(const Cluster& cluster, const std::string& ca) {
  const auto message = cluster.options.max_message.count;
  Lines lines;
  set_client_security(lines, cluster);
  lines.set("sasl.mechanisms", "PLAIN");
  lines.set("sasl.username", "pilot");
  lines.set("sasl.password", "${secret:kafka.password}");
  if (cluster.encrypt) lines.set("ssl.ca.location", ca);
  lines.set("message.max.bytes", message);
  lines.set("fetch.message.max.bytes", message);
  // A response carries at least one whole message, however large, and may carry fetch.max.bytes.
  const auto fetch = std::max<std::uint64_t>(52428800, message);
  lines.set("fetch.max.bytes", fetch);
  // A partition's leader may change at any time: by their defaults clients of before 2.3 look for the new one
  // after 250 ms, and send again after 100 ms.
  lines.set("topic.metadata.refresh.fast.interval.ms", 25);
  lines.set("retry.backoff.ms", 25);
  lines.set("receive.message.max.bytes", std::max<std::uint64_t>(100000000, fetch + 1048576));
  return lines.text();
}

}  // namespace pilot::adaptors::kafka
