#include "adaptors/framework/kafka/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pilot/base/suggest.hpp"

namespace pilot::adaptors::kafka {

namespace {

struct Reserved {
  std::string_view key;  // a trailing '.' or '*' stands for all keys that begin so
  std::string_view reason;
};

constexpr std::string_view security =
    "each pilot has its own secret on every listener; 'encrypt: true' adds TLS";
constexpr std::string_view quorum = "the quorum is made of the pilot's controllers; use 'controllers'";
constexpr std::string_view addresses = "addresses and ports are those of the pilot's nodes";
constexpr std::string_view identity = "it follows from the node a service runs on";
constexpr std::string_view storage = "data stay in the node's scratch folder, or in 'data'";

constexpr Reserved reserved[] = {
    {"node.id", identity},
    {"broker.id", identity},
    {"process.roles", identity},
    {"broker.rack", "it is the switch of the node, where the batch system tells, or the node"},
    {"listeners", addresses},
    {"advertised.listeners", addresses},
    {"listener.", security},
    {"controller.listener.names", addresses},
    {"controller.quorum.voters", quorum},
    {"controller.quorum.bootstrap.servers", quorum},
    {"controller.quorum.auto.join.enable", quorum},
    {"inter.broker.listener.name", addresses},
    {"security.", security},
    {"sasl.", security},
    {"ssl.", security},
    {"authorizer.class.name", security},
    {"super.users", security},
    {"allow.everyone.if.no.acl.found", security},
    {"log.dir", storage},
    {"log.dirs", storage},
    {"metadata.log.dir", storage},
    {"message.max.bytes", "clients must know it too; use 'max_message'"},
    {"zookeeper.", "Kafka 4 has no ZooKeeper"},
};

const Reserved* find_reserved(std::string_view key) {
  for (const auto& entry : reserved) {
    if (entry.key.back() == '.' ? key.rfind(entry.key, 0) == 0 : key == entry.key) return &entry;
  }
  return nullptr;
}

Result<void> check_config(const std::map<std::string, std::string>& config) {
  for (const auto& [key, value] : config) {
    if (const auto* entry = find_reserved(key)) {
      return make_error(ErrorCode::usage,
                        fmt::format("kafka.config: '{}' can't be set: {}", key, entry->reason));
    }
    // Kafka's files have one setting a line: a line break would smuggle another one in.
    const auto plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20; };
    const auto part_of_key = [](char c) {
      return static_cast<unsigned char>(c) > 0x20 && c != '=' && c != ':' && c != '\\' && c != '#' &&
             c != '!';
    };
    if (key.empty() || !std::all_of(key.begin(), key.end(), part_of_key)) {
      return make_error(ErrorCode::usage, fmt::format("kafka.config: '{}' is no name of a setting", key));
    }
    if (!std::all_of(value.begin(), value.end(), plain)) {
      return make_error(
          ErrorCode::usage,
          fmt::format("kafka.config: the value of '{}' has a line break or another control character", key));
    }
  }
  return ok();
}

Result<int> parse_count(std::string_view option, const std::string& text) {
  int value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size() || value < 1) {
    return make_error(ErrorCode::usage,
                      fmt::format("kafka.{} is '{}', which is not a number from 1", option, text));
  }
  return value;
}

Result<Bytes> parse_size(std::string_view option, const std::string& text, Bytes least, Bytes most) {
  const auto size = parse_bytes(text);
  if (!size.has_value()) return size.error().while_doing(fmt::format("kafka.{}", option));
  if (size.value() < least || size.value() > most) {
    return make_error(ErrorCode::usage, fmt::format("kafka.{} is {}, which is not from {} to {}", option,
                                                    text, format_bytes(least), format_bytes(most)));
  }
  return size.value();
}

// "/a,/b": they reach a file of settings, in which a comma parts them and a '$' begins a placeholder.
Result<void> read_folders(Options& options, const std::string& value) {
  for (std::size_t begin = 0; begin <= value.size();) {
    const auto comma = std::min(value.find(',', begin), value.size());
    const std::string folder = value.substr(begin, comma - begin);
    const bool plain = std::none_of(folder.begin(), folder.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == '$' || c == '\\';
    });
    if (folder.size() < 2 || folder.front() != '/' || !plain)
      return make_error(
          ErrorCode::usage, fmt::format("kafka.data: '{}' is no path from '/' on", folder),
          "a folder that outlives the nodes, e.g. /scratch/me/kafka; several are parted by commas");
    options.data.push_back(folder);
    begin = comma + 1;
  }
  return ok();
}

Result<void> read_option(Options& options, const std::string& name, const std::string& value) {
  constexpr Bytes mebi{1ULL << 20};
  if (name == "controllers") {
    PILOT_TRY(const int count, parse_count(name, value));
    options.controllers = count;
    if (count == 1 || count == 3) return ok();
    return make_error(ErrorCode::usage, fmt::format("kafka.controllers is {}, it can be 1 or 3", value),
                      "a quorum of an even number tolerates no more failures than one less");
  }
  if (name == "brokers") {
    PILOT_TRY(options.brokers, parse_count(name, value));
    return ok();
  }
  if (name == "heap") {
    PILOT_TRY(options.heap, parse_size(name, value, Bytes{128 * mebi.count}, Bytes{256 * 1024 * mebi.count}));
    return ok();
  }
  if (name == "data") return read_folders(options, value);
  if (name == "move_patience") {
    const auto patience = parse_duration(value);
    if (!patience.has_value()) return patience.error().while_doing("kafka.move_patience");
    options.move_patience = patience.value();
    if (options.move_patience >= std::chrono::seconds(1)) return ok();
    return make_error(ErrorCode::usage, fmt::format("kafka.move_patience is {}, which is below 1s", value));
  }
  if (name == "max_message") {
    PILOT_TRY(options.max_message, parse_size(name, value, Bytes{1024}, Bytes{900 * mebi.count}));
    return ok();
  }
  std::vector<std::string> names{"config"};
  for (const auto& doc : option_docs()) names.push_back(doc.name);
  return make_error(ErrorCode::usage, fmt::format("kafka has no option '{}'", name), suggestion(name, names));
}

}  // namespace

std::vector<plugin::OptionDoc> option_docs() {
  return {
      {"controllers", "3 if the base has as many machines (1 with data), else 1",
       "dedicated controllers on the base nodes: with 3 the loss of any node is survived"},
      {"brokers", "one per node", "how many brokers; at most one per node"},
      {"heap", "a quarter of the node's memory, up to 4 GiB", "memory of a broker's heap, e.g. 2G"},
      {"max_message", "33MiB", "the largest message, for brokers and clients"},
      {"data", "the node's scratch",
       "folders for the logs on storage that outlives the pilot, for 'pilot start --from'"},
      {"move_patience", "2m", "moving data is given up when none comes nearer for so long"},
  };
}

Result<Options> parse_options(const model::FrameworkSpec& framework) {
  Options options;
  for (const auto& [name, value] : framework.options) PILOT_TRY_VOID(read_option(options, name, value));
  PILOT_TRY_VOID(check_config(framework.config));
  options.config = framework.config;
  return options;
}

}  // namespace pilot::adaptors::kafka
