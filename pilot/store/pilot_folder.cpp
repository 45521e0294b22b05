#include "pilot/store/pilot_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/net/tls.hpp"
#include "pilot/store/node_keys.hpp"

namespace pilot::store {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t archived_pilots_kept = 10;

fs::path pilots_folder() {
  return pilot_home() / "pilots";
}
fs::path archive_folder() {
  return pilot_home() / "stopped";
}

Result<void> check_name(std::string_view name) {
  static const std::regex allowed("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  if (std::regex_match(name.begin(), name.end(), allowed)) return ok();
  return make_error(
      ErrorCode::usage, fmt::format("'{}' can't be the name of a pilot", name),
      "a name has up to 64 letters, digits, '.', '_' or '-', and begins with a letter or a digit");
}

Result<void> write_json(const fs::path& path, const Json& json) {
  return write_file(path, json.dump(2) + "\n", 0600);
}

// `read` takes what it needs out of the JSON; a damaged file becomes an Error that names it.
template <typename Read>
auto read_json(const fs::path& path, Read read) -> Result<decltype(read(Json()))> {
  PILOT_TRY(const std::string text, read_file(path));
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& e) {
    return make_error(ErrorCode::failed, fmt::format("{} is damaged: {}", path.string(), e.what()));
  }
}

Result<void> write_keys(const fs::path& folder, const std::string& who) {
  const net::CurveKeyPair keys = net::make_curve_key_pair();
  return write_json(folder / (who + ".json"),
                    {{"public_key", keys.public_key}, {"secret_key", keys.secret_key}});
}

Result<void> fill_new_folder(const fs::path& path, int nodes, bool encrypt) {
  for (const char* sub : {"keys", "client", "logs", "nodes"})
    PILOT_TRY_VOID(make_directory(path / sub, 0700));
  const fs::path keys = path / "keys";
  PILOT_TRY_VOID(write_keys(keys, "head"));
  PILOT_TRY_VOID(write_keys(keys, "client"));
  PILOT_TRY_VOID(PilotFolder(path).make_node_keys(1, nodes));
  PILOT_TRY_VOID(write_json(keys / "secrets.json", Json::object()));
  if (!encrypt) return ok();
  PILOT_TRY(const net::TlsIdentity authority,
            net::make_certificate_authority("pilot " + path.filename().string()));
  return write_json(keys / "ca.json",
                    {{"private_key", authority.private_key}, {"certificate", authority.certificate}});
}

Result<net::TlsIdentity> read_authority(const fs::path& pilot) {
  auto authority = read_json(pilot / "keys" / "ca.json", [](const Json& json) {
    return net::TlsIdentity{json.at("private_key"), json.at("certificate")};
  });
  if (!authority && authority.error().code == ErrorCode::not_found)
    return make_error(ErrorCode::not_found, "this pilot has no certificate authority",
                      "it was started without security: {encrypt: true}");
  return authority;
}

// A ${...} that is ours to fill in: the text between the braces, and where it stands.
struct Placeholder {
  std::string_view inner;
  std::size_t begin = 0, end = 0;
};

std::vector<Placeholder> placeholders(std::string_view text) {
  std::vector<Placeholder> found;
  for (std::size_t begin = text.find("${"); begin != std::string_view::npos;
       begin = text.find("${", begin + 2)) {
    const std::size_t close = text.find('}', begin);
    if (close == std::string_view::npos) break;
    const std::string_view inner = text.substr(begin + 2, close - begin - 2);
    if (inner.starts_with("secret:") || inner == "tls:ca" || inner.starts_with("tls:identity:"))
      found.push_back({inner, begin, close + 1});
  }
  return found;
}

std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

void drop_oldest_archives() {
  std::vector<std::pair<fs::file_time_type, fs::path>> by_age;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(archive_folder(), error))
    by_age.emplace_back(entry.last_write_time(error), entry.path());
  std::ranges::sort(by_age);
  for (std::size_t i = 0; i + archived_pilots_kept < by_age.size(); ++i) (void)remove_tree(by_age[i].second);
}

}  // namespace

fs::path pilot_home() {
  const char* home = std::getenv("PILOT_HOME");
  return home != nullptr && *home != '\0' ? fs::absolute(home) : xdg_state_directory() / "pilot";
}

Result<PilotFolder> PilotFolder::create(std::string_view name, int nodes, bool encrypt) {
  PILOT_TRY_VOID(check_name(name));
  PILOT_TRY_VOID(make_directory(pilot_home(), 0700));
  PILOT_TRY_VOID(make_directory(pilots_folder(), 0700));
  // The folder is filled under another name and then renamed, so that a pilot's folder is whole or absent.
  const fs::path made = pilots_folder() / fmt::format(".{}.{}", name, random_hex(4));
  const fs::path path = pilots_folder() / name;
  const Error in_use =
      make_error(ErrorCode::usage, fmt::format("the name '{}' is in use", name),
                 fmt::format("choose another one, or end that pilot by 'pilot stop {}'", name));
  if (fs::exists(path)) return in_use;
  PILOT_TRY_VOID(make_directory(made, 0700));
  auto filled = fill_new_folder(made, nodes, encrypt);
  if (!filled) {
    (void)remove_tree(made);
    return filled.error().while_doing("cannot make the folder of pilot '" + std::string(name) + "'");
  }
  std::error_code error;
  fs::rename(made, path, error);  // refused when `path` has files in it
  if (!error) return PilotFolder(path);
  (void)remove_tree(made);
  if (fs::exists(path)) return in_use;
  return make_error(ErrorCode::failed, fmt::format("cannot make {}: {}", path.string(), error.message()));
}

Result<PilotFolder> PilotFolder::open(std::string_view name) {
  PILOT_TRY_VOID(check_name(name));
  const fs::path path = pilots_folder() / name;
  if (fs::exists(path / "events.jsonl")) return PilotFolder(path);
  const std::vector<std::string> known = names();
  return make_error(ErrorCode::not_found, fmt::format("there is no pilot '{}'", name),
                    known.empty() ? "no pilot runs; 'pilot start' starts one" : suggestion(name, known));
}

std::vector<std::string> PilotFolder::names() {
  std::vector<std::string> all = entries(pilots_folder());
  std::erase_if(all, [](const std::string& name) { return name.starts_with('.'); });
  return all;
}

Result<void> PilotFolder::archive(std::string_view pilot_id) {
  PILOT_TRY_VOID(make_directory(archive_folder(), 0700));
  const fs::path to = archive_folder() / fmt::format("{}-{}", name(), pilot_id.substr(0, 8));
  std::error_code error;
  fs::rename(path_, to, error);
  if (error)
    return make_error(ErrorCode::failed, fmt::format("cannot move {}: {}", path_.string(), error.message()));
  path_ = to;
  drop_oldest_archives();
  return ok();
}

fs::path PilotFolder::node_file(std::string_view node) const {
  return path_ / "nodes" / (std::string(node) + ".json");
}

Result<net::CurveKeyPair> PilotFolder::keys(std::string_view who) const {
  int node = 0;
  if (who.starts_with("node-") &&
      std::from_chars(who.data() + 5, who.data() + who.size(), node).ec == std::errc{})
    return read_node_keys(path_ / "keys", node);
  return read_json(path_ / "keys" / (std::string(who) + ".json"), [](const Json& json) {
    return net::CurveKeyPair{json.at("public_key"), json.at("secret_key")};
  });
}

Result<void> PilotFolder::make_node_keys(int first, int nodes) {
  return store::make_node_keys(path_ / "keys", first, nodes);
}

Result<std::set<std::string>> PilotFolder::public_keys() const {
  PILOT_TRY(auto all, public_node_keys(path_ / "keys"));
  PILOT_TRY(const net::CurveKeyPair client, keys("client"));
  all.insert(client.public_key);
  return all;
}

Result<std::map<std::string, std::string>> PilotFolder::secrets() const {
  return read_json(path_ / "keys" / "secrets.json",
                   [](const Json& json) { return json.get<std::map<std::string, std::string>>(); });
}

Result<void> PilotFolder::make_secrets_for(std::string_view text) {
  PILOT_TRY(auto all, secrets());
  const std::size_t before = all.size();
  for (const Placeholder& found : placeholders(text))
    if (found.inner.starts_with("secret:"))
      all.try_emplace(std::string(found.inner.substr(7)), random_hex(32));
  return all.size() == before ? ok() : write_json(path_ / "keys" / "secrets.json", all);
}

Result<std::string> PilotFolder::fill_in(std::string_view text) const {
  std::string filled;
  std::size_t done = 0;
  for (const Placeholder& found : placeholders(text)) {
    filled += text.substr(done, found.begin - done);
    PILOT_TRY(const std::string value, value_of(found.inner));
    filled += value;
    done = found.end;
  }
  filled += text.substr(done);
  return filled;
}

Result<std::string> PilotFolder::value_of(std::string_view placeholder) const {
  if (placeholder.starts_with("secret:")) {
    const std::string secret_name(placeholder.substr(7));
    PILOT_TRY(const auto all, secrets());
    if (const auto found = all.find(secret_name); found != all.end()) return found->second;
    return make_error(ErrorCode::not_found, fmt::format("this pilot has no secret '{}'", secret_name));
  }
  PILOT_TRY(const net::TlsIdentity authority, read_authority(path_));
  if (placeholder == "tls:ca") return authority.certificate;
  PILOT_TRY(const net::TlsIdentity identity,
            net::make_identity(authority, std::string(placeholder.substr(13))));
  return identity.private_key + identity.certificate;
}

Result<void> PilotFolder::check_writable() const {
  const auto probe = path_ / fmt::format(".room-{}", ::getpid());
  auto written = write_file(probe, std::string(4096, ' '), 0600);  // a block: less may fit into one in use
  std::error_code ignored;
  fs::remove(probe, ignored);
  return written;
}

Result<Endpoint> PilotFolder::endpoint() const {
  return read_json(path_ / "endpoint.json", [](const Json& json) {
    return Endpoint{json.at("address"),
                    json.at("host"),
                    {json.at("pid"), json.at("start_ticks"), json.at("boot_id")},
                    json.value("node", "")};
  });
}

Result<void> PilotFolder::set_endpoint(const Endpoint& endpoint) {
  return write_json(path_ / "endpoint.json", {{"address", endpoint.address},
                                              {"host", endpoint.host},
                                              {"pid", endpoint.head.pid},
                                              {"start_ticks", endpoint.head.start_ticks},
                                              {"boot_id", endpoint.head.boot_id},
                                              {"node", endpoint.node}});
}

}  // namespace pilot::store
