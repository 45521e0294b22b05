#include "pilot/core/java.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "pilot/base/file.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::core {
namespace {

namespace fs = std::filesystem;

// The text between the first quotes after `mark`.
std::string quoted_after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto open = text.find('"', at + mark.size() - 1);
  if (open == std::string_view::npos) return {};
  return std::string(text.substr(open + 1, text.find('"', open + 1) - open - 1));
}

// Every JDK since 9 has a file that says its version, which saves starting it (0.1 s).
std::string version_from_release_file(const fs::path& program) {
  std::error_code problem;
  const fs::path real = fs::canonical(program, problem);
  if (problem) return {};
  const auto release = read_file(real.parent_path().parent_path() / "release");
  return release.has_value() ? quoted_after(release.value(), "JAVA_VERSION=\"") : "";
}

Result<Java> look_at(const fs::path& program, std::string origin) {
  Java java{program, 0, version_from_release_file(program), std::move(origin)};
  if (java.text.empty()) {
    model::Command command;
    command.argv = {program.string(), "-version"};
    PILOT_TRY(const proc::CommandResult result, proc::run_command(command, std::chrono::seconds(20)));
    if (!result.succeeded())
      return make_error(ErrorCode::failed, result.complaint(program.string() + " -version"));
    java.text = quoted_after(result.err + result.out, "version \"");
  }
  java.version = java_major(java.text);
  if (java.version == 0)
    return make_error(ErrorCode::failed, fmt::format("'{} -version' gives no version", program.string()),
                      "is it a working Java?");
  return java;
}

}  // namespace

int java_major(std::string_view version) {
  const auto number = [](std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  if (version.starts_with("1.")) version.remove_prefix(2);
  return number(version);
}

Result<Java> find_java() {
  const char* home = std::getenv("JAVA_HOME");
  if (home != nullptr && *home != '\0') {
    const fs::path program = fs::path(home) / "bin" / "java";
    if (access(program.c_str(), X_OK) == 0) return look_at(program, "JAVA_HOME");
    return make_error(ErrorCode::usage,
                      fmt::format("JAVA_HOME is '{}', but '{}' is no program", home, program.string()),
                      "correct or unset JAVA_HOME");
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder.empty() ? "." : folder) / "java";
    if (access(program.c_str(), X_OK) == 0) return look_at(program, "PATH");
  }
  return make_error(ErrorCode::not_found,
                    "Java is missing: there is no 'java' on PATH and JAVA_HOME is not set",
                    "Debian: apt-get install openjdk-17-jre-headless; a cluster: module load java");
}

}  // namespace pilot::core
