#include "pilot/core/software.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "pilot/base/file.hpp"
#include "pilot/core/java.hpp"
#include "pilot/core/programs.hpp"
#include "pilot/core/tool_run.hpp"

namespace pilot::core {
namespace {

namespace fs = std::filesystem;

// A recipe writes this file last: a folder without it is not finished.
bool is_finished(const fs::path& folder) {
  return fs::is_regular_file(folder / "installed.json");
}

std::vector<fs::path> prefixes() {
  std::vector<fs::path> found{software_prefix()};
  if (const fs::path cache = xdg_cache_directory() / "pilot"; cache != found.front()) found.push_back(cache);
  return found;
}

// Finished folders of a framework, the recipe's version first, then the others from new to old.
std::vector<fs::path> installed_folders(const plugin::FrameworkAdaptor& adaptor) {
  std::vector<fs::path> folders;
  for (const fs::path& prefix : prefixes()) {
    if (const fs::path exact = install_folder(prefix, adaptor.install_recipe()); is_finished(exact))
      folders.push_back(exact);
  }
  for (const fs::path& prefix : prefixes()) {
    std::vector<fs::path> others;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(prefix / "frameworks", none))
      if (entry.path().filename().string().starts_with(std::string(adaptor.name()) + "-") &&
          is_finished(entry.path()))
        others.push_back(entry.path());
    std::sort(others.rbegin(), others.rend());
    for (const fs::path& other : others)
      if (std::find(folders.begin(), folders.end(), other) == folders.end()) folders.push_back(other);
  }
  return folders;
}

Error not_installed(const plugin::FrameworkAdaptor& adaptor) {
  return make_error(ErrorCode::not_found, fmt::format("{} is not installed", adaptor.name()),
                    fmt::format("'pilot frameworks install {}' installs version {} into {}", adaptor.name(),
                                adaptor.install_recipe().version, software_prefix().string()));
}

}  // namespace

fs::path software_prefix() {
  const char* shared = std::getenv("PILOT_SOFTWARE");
  return shared != nullptr && *shared != '\0' ? fs::path(shared) : xdg_cache_directory() / "pilot";
}

fs::path install_folder(const fs::path& prefix, const plugin::InstallRecipe& recipe) {
  return prefix / "frameworks" / fmt::format("{}-{}", recipe.framework, recipe.version);
}

Result<plugin::Software> locate_software(const plugin::FrameworkAdaptor& adaptor) {
  const std::string variable(adaptor.home_variable());
  const char* home = std::getenv(variable.c_str());
  const bool own = home != nullptr && *home != '\0';
  const auto folders = own ? std::vector<fs::path>{home} : installed_folders(adaptor);
  if (folders.empty()) return not_installed(adaptor);
  PILOT_TRY(const Java java, find_java());
  auto software = adaptor.inspect(folders.front(), java.program, java.version);
  if (!software.has_value()) {
    if (own) return software.error().while_doing(fmt::format("{} is '{}'", variable, home));
    return software.error();
  }
  software.value().origin = own ? variable : "installed";
  return software;
}

Result<plugin::Software> install_software(const Context& context, const plugin::FrameworkAdaptor& adaptor,
                                          const fs::path& prefix) {
  const plugin::InstallRecipe recipe = adaptor.install_recipe();
  PILOT_TRY(const fs::path share, share_folder(adaptor.name()));
  const fs::path folder = fs::absolute(install_folder(prefix, recipe));
  if (auto made = make_directory(folder.parent_path(), 0755); !made.has_value())
    return made.error().while_doing(fmt::format("installing {}", adaptor.name()));

  ToolRun::Options options;
  options.command.argv = {(share / recipe.script).string()};
  options.command.env = {{"PREFIX", folder.string()}, {"SHARE", share.string()}};
  options.command.directory = "/";
  options.output = folder.parent_path() / (folder.filename().string() + ".log");
  options.on_line = [&](std::string_view line) { context.observer->note(line); };
  PILOT_TRY(ToolRun run, ToolRun::start(std::move(options)));
  while (!run.wait_for(std::chrono::milliseconds(100))) {
    if (!context.observer->interrupted()) continue;
    run.end(std::chrono::seconds(5));
    return make_error(ErrorCode::failed,
                      fmt::format("the installation of {} was interrupted", adaptor.name()),
                      "repeat the command and it goes on from here");
  }
  if (!run.status().clean())
    return make_error(ErrorCode::failed,
                      fmt::format("cannot install {}: {}", adaptor.name(),
                                  run.last_line().empty() ? to_string(run.status()) : run.last_line()),
                      fmt::format("all it said: {}", run.output().string()));
  PILOT_TRY(const Java java, find_java());
  PILOT_TRY(plugin::Software software, adaptor.inspect(folder, java.program, java.version));
  software.origin = "installed";
  return software;
}

}  // namespace pilot::core
