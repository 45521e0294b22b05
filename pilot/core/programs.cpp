#include "pilot/core/programs.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

#include "pilot/base/file.hpp"

namespace pilot::core {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

// The source tree of a build folder, as CMake remembers it.
std::optional<fs::path> source_of_build(const fs::path& build) {
  const auto cache = read_file(build / "CMakeCache.txt");
  if (!cache.has_value()) return std::nullopt;
  const std::string mark = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
  const auto at = cache.value().find(mark);
  if (at == std::string::npos) return std::nullopt;
  const auto start = at + mark.size();
  return fs::path(cache.value().substr(start, cache.value().find('\n', start) - start));
}

// Where a part of the installation may be; in the source tree it stands elsewhere.
std::vector<fs::path> shares(std::string_view part, const fs::path& in_source) {
  const fs::path prefix = program_folder().parent_path();
  std::vector<fs::path> places{prefix / "share" / "pilot" / part};
  if (const char* source = std::getenv("PILOT_SOURCE_DIR"); source != nullptr && *source != '\0')
    places.insert(places.begin(), fs::path(source) / in_source);
  if (const auto source = source_of_build(prefix)) places.push_back(*source / in_source);
  return places;
}

}  // namespace

fs::path program_folder() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  return problem ? fs::current_path() : self.parent_path();
}

Result<fs::path> find_program(const std::string& name) {
  if (const fs::path beside = program_folder() / name; is_program(beside)) return beside;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  return make_error(
      ErrorCode::not_found,
      fmt::format("there is no program '{}' in '{}' or on PATH", name, program_folder().string()),
      "the installation is not complete");
}

Result<fs::path> share_folder(std::string_view framework) {
  const auto places = shares(framework, fs::path("adaptors/framework") / framework / "share");
  for (const fs::path& place : places)
    if (fs::is_directory(place)) return place;
  return make_error(ErrorCode::not_found,
                    fmt::format("the recipe of {} is not in '{}'", framework, places.front().string()),
                    "the installation is not complete");
}

fs::path sites_folder() {
  for (const fs::path& place : shares("sites", "adaptors/batch/sites"))
    if (fs::is_directory(place)) return place;
  return {};
}

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

}  // namespace pilot::core
