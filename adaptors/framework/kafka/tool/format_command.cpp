#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "adaptors/framework/kafka/kraft_format.hpp"
#include "adaptors/framework/kafka/protocol/stream.hpp"
#include "adaptors/framework/kafka/tool/arguments.hpp"
#include "adaptors/framework/kafka/tool/commands.hpp"
#include "adaptors/framework/kafka/tool/move_quorum.hpp"
#include "adaptors/framework/kafka/tool/properties.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::adaptors::kafka {

namespace {

namespace fs = std::filesystem;

struct Server {
  int node_id = 0;
  bool controller = false;
  std::string listener;                  // of the controllers
  std::vector<std::string> controllers;  // where they are asked for
  std::vector<fs::path> log_dirs;
  fs::path metadata_dir;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<Server> read_server(const fs::path& path) {
  PILOT_TRY(const auto properties, read_properties(path));
  Server server;
  PILOT_TRY(const auto ids, parse_ids(value_of(properties, "node.id")));
  if (ids.size() != 1)
    return make_error(ErrorCode::usage, fmt::format("'{}' has no single node.id", path.string()));
  server.node_id = ids[0];
  for (const auto& role : split(value_of(properties, "process.roles"), ',')) {
    server.controller = server.controller || role == "controller";
  }
  const auto listeners = split(value_of(properties, "controller.listener.names"), ',');
  if (!listeners.empty()) server.listener = listeners[0];
  server.controllers = split(value_of(properties, "controller.quorum.bootstrap.servers"), ',');
  for (const auto& dir : split(value_of(properties, "log.dirs"), ',')) server.log_dirs.emplace_back(dir);
  if (server.log_dirs.empty())
    return make_error(ErrorCode::usage, fmt::format("'{}' has no log.dirs", path.string()));
  server.metadata_dir = value_of(properties, "metadata.log.dir");
  if (server.metadata_dir.empty()) server.metadata_dir = server.log_dirs[0];
  return server;
}

// True when the directory already belongs to this node of this cluster; refuses another's.
Result<bool> is_ours(const fs::path& dir, const std::string& cluster_id, int node_id) {
  const auto meta = read_properties(dir / "meta.properties");
  if (!meta.has_value()) {
    if (meta.error().code == ErrorCode::not_found) return false;
    return meta.error();
  }
  const auto cluster = value_of(meta.value(), "cluster.id");
  const auto node = value_of(meta.value(), "node.id");
  if (cluster == cluster_id && node == std::to_string(node_id)) return true;
  return make_error(ErrorCode::failed,
                    fmt::format("'{}' holds the data of node {} of cluster '{}', not of node {} of '{}'",
                                dir.string(), node, cluster, node_id, cluster_id),
                    "give the node an empty folder");
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(system_clock().wall().time_since_epoch())
      .count();
}

// Others join later: one that answers has a quorum, whose first member would begin another one here.
Result<void> check_no_quorum(const Server& server, const std::vector<Voter>& voters) {
  for (const auto& text : server.controllers) {
    PILOT_TRY(const auto endpoint, protocol::parse_endpoint(text));
    const bool begins = std::ranges::any_of(voters, [&](const Voter& voter) {
      return voter.host == endpoint.host && voter.port == endpoint.port;
    });
    const Deadline deadline(system_clock(), std::chrono::seconds(1));
    if (!begins && protocol::Stream::open(endpoint, {}, deadline).has_value())
      return make_error(ErrorCode::failed,
                        fmt::format("the data of controller {} are gone, and its quorum lives on at {}",
                                    server.node_id, text),
                        "the quorum goes on without it; nothing is lost while most of it is there");
  }
  return ok();
}

Result<void> write_quorum(const Server& server, const std::string& cluster_id,
                          const std::string& voters_text) {
  QuorumStart start{server.listener, {}, {}, now_ms(), now_ms(), now_ms()};
  PILOT_TRY(start.voters, parse_voters(voters_text));
  bool among_them = false;
  for (const auto& voter : start.voters) {
    start.directories.push_back(directory_uuid(cluster_id, voter.id));
    among_them = among_them || voter.id == server.node_id;
  }
  if (!among_them) {
    return make_error(ErrorCode::usage,
                      fmt::format("node {} is not among the voters '{}'", server.node_id, voters_text));
  }
  PILOT_TRY_VOID(check_no_quorum(server, start.voters));
  const auto log = server.metadata_dir / "__cluster_metadata-0";
  PILOT_TRY_VOID(make_directory(log));
  return write_file(log / "00000000000000000000-0000000000.checkpoint", quorum_snapshot(start), 0400);
}

Result<void> write_controller(const Server& server, const std::string& cluster_id,
                              const Arguments& arguments) {
  PILOT_TRY(const auto bootstrap_file, arguments.required("--template"));
  PILOT_TRY(const auto bootstrap, read_file(bootstrap_file));
  if (const auto voters = arguments.text("--voters", ""); !voters.empty())
    PILOT_TRY_VOID(write_quorum(server, cluster_id, voters));
  return write_file(server.metadata_dir / "bootstrap.checkpoint", bootstrap, 0600);
}

// A controller that joins is known by its directory's id: when its data are lost it must not pass for the
// one that had them and that voted (KIP-853).
Uuid directory_id(const Server& server, const std::string& cluster_id, bool joins, int directory) {
  return joins ? uuid_of(random_hex(16)) : directory_uuid(cluster_id, server.node_id, directory);
}

}  // namespace

Result<std::string> run_format(const std::vector<std::string>& words) {
  PILOT_TRY(const auto arguments,
            Arguments::parse(words, {"--config", "--cluster-id", "--template", "--voters"}, {"--existing"}));
  PILOT_TRY(const auto config, arguments.required("--config"));
  PILOT_TRY(const auto cluster_id, arguments.required("--cluster-id"));
  PILOT_TRY(auto server, read_server(config));
  // The metadata directory is the first, so that its id is the one that voters are known by.
  std::vector<fs::path> dirs{server.metadata_dir};
  for (const auto& dir : server.log_dirs) {
    if (dir != server.metadata_dir) dirs.push_back(dir);
  }
  const bool joins = server.controller && arguments.text("--voters", "").empty();
  int formatted = 0, moved = 0;
  for (std::size_t i = 0; i < dirs.size(); ++i) {
    PILOT_TRY(const bool ours, is_ours(dirs[i], cluster_id, server.node_id));
    if (ours) continue;
    if (arguments.has("--existing"))
      return make_error(
          ErrorCode::not_found,
          fmt::format("'{}' holds no data of node {} of cluster '{}', which are to be opened again",
                      dirs[i].string(), server.node_id, cluster_id),
          "is the folder mounted on this node? Was it deleted?");
    PILOT_TRY_VOID(make_directory(dirs[i]));
    if (i == 0 && server.controller) PILOT_TRY_VOID(write_controller(server, cluster_id, arguments));
    // Last, because a directory with this file counts as formatted.
    const auto id = directory_id(server, cluster_id, joins, static_cast<int>(i));
    PILOT_TRY_VOID(
        write_file(dirs[i] / "meta.properties", meta_properties(cluster_id, server.node_id, id), 0600));
    ++formatted;
  }
  if (arguments.has("--existing")) {
    PILOT_TRY(const auto voters, parse_voters(arguments.text("--voters", "")));
    PILOT_TRY(moved, move_quorum(server.metadata_dir, voters));
  }
  return fmt::format(
      R"({{"schema": "pilot-kafka.format/1", "node": {}, "cluster": {}, "formatted": {}, "kept": {}, "moved": {}}})",
      server.node_id, json_string(cluster_id), formatted, static_cast<int>(dirs.size()) - formatted, moved);
}

}  // namespace pilot::adaptors::kafka
