#include "miniapps/cli/cluster_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pilot/proc/command_run.hpp"

namespace miniapps::cli {
namespace {

namespace kafka = transports::kafka;
using pilot::ErrorCode;

constexpr auto group = "Cluster";
constexpr auto pilot_timeout = std::chrono::seconds(30);

// An exit code of `pilot` means the same to us.
ErrorCode code_from_exit(int status) {
  switch (status) {
    case 2:
      return ErrorCode::usage;
    case 3:
      return ErrorCode::not_found;
    case 4:
      return ErrorCode::timed_out;
    case 5:
      return ErrorCode::unavailable;
    default:
      return ErrorCode::failed;
  }
}

pilot::Result<kafka::ClientConfig> ask_pilot(const std::string& name) {
  const std::string program = pilot_program();
  auto result = pilot::proc::run_command({.argv = {program, "env", name, "--json"}}, pilot_timeout);
  if (!result)
    return pilot::make_error(result.error().code,
                             fmt::format("cannot ask for pilot '{}': {}", name, result.error().message),
                             "--pilot runs 'pilot env', which has to be beside miniapp or on PATH");
  const auto& answer = result.value();
  if (!answer.succeeded())
    return pilot::make_error(code_from_exit(answer.status.code), answer.complaint("pilot env " + name));
  return client_config_of_pilot(name, answer.out);
}

std::string from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string{} : value;
}

pilot::Result<kafka::ClientConfig> base_config(const ClusterOptions& options) {
  if (!options.pilot.empty()) return ask_pilot(options.pilot);
  if (!options.client_config.empty()) return kafka::read_client_config(options.client_config);
  if (!options.bootstrap.empty()) return kafka::plain_client_config(options.bootstrap);
  if (const auto file = from_environment("PILOT_KAFKA_CONFIG"); !file.empty()) {
    auto config = kafka::read_client_config(file);
    if (!config) return config.error().while_doing("PILOT_KAFKA_CONFIG");
    return config;
  }
  if (const auto servers = from_environment("KAFKA_BOOTSTRAP_SERVERS"); !servers.empty())
    return kafka::plain_client_config(servers);
  return pilot::make_error(ErrorCode::usage, "which Kafka cluster?",
                           "give --pilot NAME, --bootstrap HOST:PORT or --client-config FILE, or set a "
                           "pilot's variables with 'eval \"$(pilot env NAME)\"'");
}

}  // namespace

void add_cluster_options(CLI::App& verb, ClusterOptions& options) {
  auto* pilot =
      verb.add_option("--pilot", options.pilot, "The Kafka cluster of this pilot")->type_name("NAME");
  auto* file = verb.add_option("--client-config", options.client_config,
                               "librdkafka's key=value file [PILOT_KAFKA_CONFIG]")
                   ->type_name("FILE");
  auto* bootstrap =
      verb.add_option("--bootstrap", options.bootstrap, "A broker's address [KAFKA_BOOTSTRAP_SERVERS]")
          ->type_name("HOST:PORT");
  auto* property = verb.add_option("-X,--property", options.properties, "One property of librdkafka, on top")
                       ->type_name("KEY=VALUE")
                       ->take_all();
  pilot->excludes(file)->excludes(bootstrap);
  for (CLI::Option* option : {pilot, file, bootstrap, property}) option->group(group);
}

pilot::Result<kafka::ClientConfig> client_config(const ClusterOptions& options) {
  PILOT_TRY(auto config, base_config(options));
  if (!options.bootstrap.empty()) config.properties["bootstrap.servers"] = options.bootstrap;
  for (const auto& property : options.properties) PILOT_TRY_VOID(kafka::set_property(config, property));
  return config;
}

pilot::Result<kafka::ClientConfig> client_config_of_pilot(const std::string& name, const std::string& json) {
  const auto answer = nlohmann::json::parse(json, nullptr, false);
  const auto unusable = [&](std::string_view what) {
    return pilot::make_error(ErrorCode::usage, fmt::format("pilot '{}' {}", name, what),
                             "'pilot status " + name + "' shows its clusters");
  };
  if (!answer.is_object() || !answer.contains("exports") || !answer["exports"].is_object())
    return unusable("gives no variables ('pilot env' printed no JSON with \"exports\")");
  const auto value = [&](const char* key) {
    const auto& exports = answer["exports"];
    return exports.contains(key) && exports[key].is_string() ? exports[key].get<std::string>()
                                                             : std::string{};
  };
  const std::string servers = value("KAFKA_BOOTSTRAP_SERVERS"), file = value("PILOT_KAFKA_CONFIG");
  if (servers.empty() && file.empty()) return unusable("has no Kafka cluster");
  kafka::ClientConfig config;
  if (!file.empty()) {
    PILOT_TRY(config, kafka::read_client_config(file));
  }
  if (!servers.empty()) config.properties.insert({"bootstrap.servers", servers});
  config.origin = fmt::format("pilot '{}'", name);
  return config;
}

std::filesystem::path pilot_program() {
  std::error_code code;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
  const auto beside = self.parent_path() / "pilot";
  return !code && access(beside.c_str(), X_OK) == 0 ? beside : "pilot";
}

}  // namespace miniapps::cli
