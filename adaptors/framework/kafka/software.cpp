#include "adaptors/framework/kafka/software.hpp"

#include <fmt/format.h>

#include <charconv>

namespace pilot::adaptors::kafka {

namespace {

namespace fs = std::filesystem;

constexpr int least_java = 17;
constexpr int least_kafka = 4;  // before it, a quorum of controllers could not change

// The version in "kafka-clients-4.3.1.jar"; empty when there is no such jar.
std::string version_in(const fs::path& libs) {
  constexpr std::string_view prefix = "kafka-clients-";
  constexpr std::string_view suffix = ".jar";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(libs, error)) {
    const auto name = entry.path().filename().string();
    if (name.size() <= prefix.size() + suffix.size() || name.rfind(prefix, 0) != 0 || !name.ends_with(suffix))
      continue;
    const auto version = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (version.front() >= '0' && version.front() <= '9' && version.find("-test") == std::string::npos)
      return version;
  }
  return {};
}

}  // namespace

Result<plugin::Software> inspect_software(const fs::path& home, const fs::path& java, int java_version) {
  const auto version = version_in(home / "libs");
  if (version.empty()) {
    return make_error(ErrorCode::not_found,
                      fmt::format("there is no Kafka in '{}': no libs/kafka-clients-*.jar", home.string()),
                      "'pilot frameworks install kafka' installs one; KAFKA_HOME names another");
  }
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < least_kafka) {
    return make_error(ErrorCode::usage, fmt::format("Kafka {} in '{}' is too old: {} or newer is needed",
                                                    version, home.string(), least_kafka));
  }
  if (java_version < least_java) {
    return make_error(ErrorCode::usage,
                      fmt::format("Java is too old: '{}' is version {}, Kafka needs {} or newer",
                                  java.string(), java_version, least_java),
                      "put a newer one first on PATH or set JAVA_HOME");
  }
  plugin::Software software;
  software.framework = "kafka";
  software.version = version;
  software.home = home;
  software.java = java;
  software.details["classpath"] = (home / "libs").string() + "/*";
  const std::pair<const char*, fs::path> extras[] = {{"template", home / "template" / "bootstrap.checkpoint"},
                                                     {"cds.broker", home / "cds" / "broker.jsa"},
                                                     {"cds.controller", home / "cds" / "controller.jsa"}};
  for (const auto& [key, path] : extras) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) software.details[key] = path.string();
  }
  return software;
}

}  // namespace pilot::adaptors::kafka
