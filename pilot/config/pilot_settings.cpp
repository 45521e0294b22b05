#include "pilot/config/pilot_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "pilot/config/reader.hpp"

namespace pilot::config {
namespace {

constexpr int most_nodes = 100000;
constexpr int most_cores = 100000;

constexpr std::array docs{
    SettingDoc{"name", "NAME", "", "what the pilot is called; free again once it is stopped"},
    SettingDoc{"resource", "NAME", "local", "what gives the nodes; 'pilot doctor' lists them"},
    SettingDoc{"site", "NAME", "", "the profile of a machine; 'pilot config sites' lists them"},
    SettingDoc{"nodes", "N", "1", "how many nodes"},
    SettingDoc{"walltime", "TIME", "", "how long the nodes are wanted: 2h30m, 01:30:00"},
    SettingDoc{"node.cores", "N", "", "cores per node; default: the node's, on local the machine's share"},
    SettingDoc{"node.memory", "SIZE", "", "memory per node: 2G, 512M; default as for cores"},
    SettingDoc{"node.scratch", "DIR", "", "node-local folder for data; default: $TMPDIR or /tmp"},
    SettingDoc{"network.subnet", "CIDR", "127.77.0.0/16", "local: where the nodes' addresses are taken from"},
    SettingDoc{"network.ports", "A-B", "20000-29999", "services listen on free ports of this range"},
    SettingDoc{"security.encrypt", "BOOL", "false", "TLS between services and clients, beside passwords"},
    SettingDoc{"ready_timeout", "TIME", "3m", "a pilot that is not ready by then has failed"},
    SettingDoc{"lost_after", "TIME", "2m",
               "a lost node is done without then, its data are rebuilt elsewhere"},
    SettingDoc{"batch.queue", "NAME", "", "the batch system's queue or partition"},
    SettingDoc{"batch.account", "NAME", "", "what the batch system charges"},
    SettingDoc{"frameworks", "LIST", "", "what runs on the nodes: [kafka], or a map with their settings"},
};

Result<std::uint16_t> parse_port(std::string_view text) {
  unsigned port = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || stop != text.data() + text.size() || port < 1024 || port > 65535)
    return make_error(ErrorCode::usage, "not a port");
  return static_cast<std::uint16_t>(port);
}

Result<void> decode_ports(const MapReader& reader, model::NetworkSpec& network) {
  std::string range;
  PILOT_TRY_VOID(reader.read("ports", range));
  if (range.empty()) return ok();
  const auto dash = range.find('-');
  const std::string_view view = range;
  auto first = parse_port(view.substr(0, dash));
  auto last = dash == std::string::npos ? first : parse_port(view.substr(dash + 1));
  if (!first.has_value() || !last.has_value() || first.value() > last.value())
    return error_at(
        reader.find("ports")->origin,
        fmt::format("{} must be a range like 20000-29999, not '{}'", reader.name_of("ports"), range),
        "ports from 1024 to 65535");
  network.first_port = first.value();
  network.last_port = last.value();
  return ok();
}

bool is_subnet(std::string_view text) {
  const auto number = [&text](int most, char end) {
    int value = -1;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto used = static_cast<std::size_t>(stop - text.data());
    const bool ended = end == '\0' ? used == text.size() : used < text.size() && text[used] == end;
    text.remove_prefix(std::min(used + 1, text.size()));
    return error == std::errc{} && ended && value >= 0 && value <= most;
  };
  return number(255, '.') && number(255, '.') && number(255, '.') && number(255, '/') && number(32, '\0');
}

Result<void> decode_network(const Value* value, model::NetworkSpec& network) {
  PILOT_TRY(const MapReader reader, MapReader::open(value, "network.", {"subnet", "ports"}));
  PILOT_TRY_VOID(reader.read("subnet", network.subnet));
  if (!is_subnet(network.subnet))
    return error_at(reader.find("subnet")->origin,
                    fmt::format("network.subnet must be like 127.77.0.0/16, not '{}'", network.subnet));
  return decode_ports(reader, network);
}

Result<void> decode_node(const Value* value, model::PilotSpec& spec) {
  PILOT_TRY(const MapReader reader, MapReader::open(value, "node.", {"cores", "memory", "scratch"}));
  PILOT_TRY_VOID(reader.read_count("cores", spec.cores_per_node, 1, most_cores));
  PILOT_TRY_VOID(reader.read("memory", spec.memory_per_node));
  if (reader.find("memory") != nullptr && spec.memory_per_node < Bytes{1 << 20})
    return error_at(reader.find("memory")->origin,
                    fmt::format("node.memory must be at least 1M, not '{}'", reader.find("memory")->text));
  return reader.read("scratch", spec.scratch);
}

Result<model::FrameworkSpec> decode_framework(const std::string& name, const Value& value) {
  const std::string path = fmt::format("frameworks.{}.", name);
  model::FrameworkSpec framework;
  framework.name = name;
  PILOT_TRY(framework.config, read_texts(value.find("config"), path + "config."));
  Value options = value;
  std::erase_if(options.entries, [](const Entry& entry) { return entry.key == "config"; });
  PILOT_TRY(framework.options, read_texts(&options, path));
  return framework;
}

Result<void> decode_frameworks(const Value* value, model::PilotSpec& spec) {
  if (value == nullptr || value->is_null()) return ok();
  if (value->kind != Value::Kind::map)
    return error_at(value->origin,
                    fmt::format("frameworks must be a list of names or a map, not {}", shape_of(*value)));
  for (const Entry& entry : value->entries) {
    PILOT_TRY(model::FrameworkSpec framework, decode_framework(entry.key, entry.value));
    spec.frameworks.push_back(std::move(framework));
  }
  return ok();
}

// `extra: [--switches=1, --licenses=x]` is the same as these one a line.
Value lists_as_lines(const Value* batch) {
  if (batch == nullptr) return {};
  Value texts = *batch;
  for (Entry& entry : texts.entries) {
    const auto& items = entry.value.items;
    if (entry.value.kind != Value::Kind::list ||
        std::ranges::any_of(items, [](const Value& item) { return item.kind != Value::Kind::scalar; }))
      continue;
    std::string lines;
    for (const Value& item : items) lines += (lines.empty() ? "" : "\n") + item.text;
    entry.value = Value::scalar(lines, entry.value.origin);
  }
  return texts;
}

void collect_origins(const Value& value, const std::string& key,
                     std::map<std::string, std::string>& origins) {
  if (!key.empty()) origins[key] = value.origin;
  for (const Entry& entry : value.entries) {
    const std::string below = key.empty() ? entry.key : key + "." + entry.key;
    collect_origins(entry.value, below, origins);
    if (entry.value.is_null() || entry.value.origin.empty()) origins[below] = entry.origin;
  }
}

std::vector<std::string> split(std::string_view key) {
  std::vector<std::string> parts;
  for (auto dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    parts.emplace_back(key.substr(0, dot));
    key.remove_prefix(dot + 1);
  }
  parts.emplace_back(key);
  return parts;
}

}  // namespace

std::span<const SettingDoc> setting_docs() {
  return docs;
}

Result<void> check_pilot_name(const std::string& name, const std::string& origin) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 && c < 128; };
  const bool good = !name.empty() && name.size() <= 63 && letter(static_cast<unsigned char>(name.front())) &&
                    std::all_of(name.begin(), name.end(), [&](char c) {
                      return letter(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
                    });
  if (good) return ok();
  return error_at(origin, fmt::format("'{}' can't name a pilot", name),
                  "up to 63 letters, digits, '.', '_' and '-', beginning with a letter or digit");
}

Result<LocatedSpec> decode_pilot_spec(const Value& settings) {
  LocatedSpec located;
  model::PilotSpec& spec = located.spec;
  PILOT_TRY(const MapReader reader,
            MapReader::open(&settings, "",
                            {"name", "resource", "site", "nodes", "walltime", "node", "network", "security",
                             "ready_timeout", "lost_after", "batch", "frameworks"}));
  PILOT_TRY_VOID(reader.read("name", spec.name));
  if (const Value* name = reader.find("name")) PILOT_TRY_VOID(check_pilot_name(spec.name, name->origin));
  PILOT_TRY_VOID(reader.read("resource", spec.resource));
  PILOT_TRY_VOID(reader.read_count("nodes", spec.nodes, 1, most_nodes));
  PILOT_TRY_VOID(reader.read_walltime("walltime", spec.walltime));
  PILOT_TRY_VOID(decode_node(reader.find("node"), spec));
  PILOT_TRY_VOID(decode_network(reader.find("network"), spec.network));
  PILOT_TRY(const MapReader security, MapReader::open(reader.find("security"), "security.", {"encrypt"}));
  PILOT_TRY_VOID(security.read("encrypt", spec.encrypt));
  PILOT_TRY_VOID(reader.read("ready_timeout", spec.ready_timeout));
  PILOT_TRY_VOID(reader.read("lost_after", spec.lost_after));
  const Value batch = lists_as_lines(reader.find("batch"));
  PILOT_TRY(spec.batch, read_texts(&batch, "batch."));
  PILOT_TRY_VOID(decode_frameworks(reader.find("frameworks"), spec));
  collect_origins(settings, "", located.origins);
  return located;
}

void normalise_frameworks(Value& settings) {
  if (settings.kind != Value::Kind::map || settings.find("frameworks") == nullptr) return;
  Value& frameworks = settings.entry("frameworks", "");
  Value map = Value::map(frameworks.origin);
  map.exact = true;
  if (frameworks.kind == Value::Kind::map) {
    frameworks.exact = true;
    return;
  }
  if (frameworks.kind == Value::Kind::scalar) {  // from the environment or a flag: "kafka,spark"
    std::string word;
    for (const char c : frameworks.text + ",") {
      if (c != ',' && c != ' ') {
        word += c;
      } else if (!word.empty()) {
        map.entry(std::exchange(word, {}), frameworks.origin);
      }
    }
  } else if (frameworks.kind == Value::Kind::list) {
    for (const Value& item : frameworks.items) {
      if (item.kind == Value::Kind::scalar) {
        map.entry(item.text, item.origin);
      } else if (item.kind == Value::Kind::map && item.entries.size() == 1) {
        map.entry(item.entries.front().key, item.entries.front().origin) = item.entries.front().value;
      } else {
        return;  // decode_frameworks() says what is wrong
      }
    }
  } else {
    return;
  }
  frameworks = std::move(map);
}

std::vector<ShownSetting> show_settings(const Value& settings) {
  std::vector<ShownSetting> shown;
  const auto add_leaves = [&shown](const auto& self, const Value& value, const std::string& key) -> void {
    for (const Entry& entry : value.entries) self(self, entry.value, key + "." + entry.key);
    if (value.kind == Value::Kind::scalar) shown.push_back({key, value.text, value.origin});
  };
  for (const SettingDoc& doc : docs) {
    const Value* value = settings.at(split(doc.key));
    if (value == nullptr || value->is_null()) {
      shown.push_back({std::string(doc.key), std::string(doc.default_value), "default"});
    } else if (value->kind == Value::Kind::map) {  // the frameworks: their names, then their settings
      std::vector<std::string> names;
      for (const Entry& entry : value->entries) names.push_back(entry.key);
      shown.push_back({std::string(doc.key), fmt::format("{}", fmt::join(names, ", ")), value->origin});
      add_leaves(add_leaves, *value, std::string(doc.key));
    } else {
      add_leaves(add_leaves, *value, std::string(doc.key));
    }
  }
  // What the resource knows beyond what all of them do.
  if (const Value* batch = settings.find("batch"))
    for (const Entry& entry : batch->entries)
      if (std::ranges::none_of(docs, [&](const SettingDoc& doc) { return doc.key == "batch." + entry.key; }))
        add_leaves(add_leaves, entry.value, "batch." + entry.key);
  return shown;
}

}  // namespace pilot::config
