#include "miniapps/cli/sibling_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace miniapps::cli {
namespace {

// This process becomes the program, so signals and the exit code are the program's own.
int become(const SiblingProgram& program, std::vector<std::string> words) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return report_error(pilot::errno_error("cannot read '/proc/self/exe'", failed.value()));
  const auto path = find_sibling(program, self.parent_path());
  if (!path) return report_error(path.error());
  words.insert(words.begin(), program.verb);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(path.value().c_str(), argv.data());
  return report_error(pilot::errno_error(fmt::format("cannot run '{}'", path.value().string()), errno));
}

}  // namespace

pilot::Result<std::filesystem::path> find_sibling(const SiblingProgram& program,
                                                  const std::filesystem::path& folder) {
  const auto path = folder / program.file;
  if (access(path.c_str(), X_OK) == 0) return path;
  return pilot::make_error(
      pilot::ErrorCode::not_found,
      fmt::format("'{}' is the program '{}', which is not in {}", program.verb, program.file,
                  folder.string()),
      fmt::format("it is built where {} is installed: install that, then build and install again",
                  program.built_with));
}

void add_sibling(CLI::App& parent, const std::string& name, const std::string& about,
                 const SiblingProgram& program, Verb& chosen) {
  CLI::App& verb = *parent.add_subcommand(name, about);
  verb.set_help_flag();   // the program has it
  verb.prefix_command();  // nothing that follows is ours
  verb.callback(
      [&chosen, &verb, program] { chosen = [&verb, program] { return become(program, verb.remaining()); }; });
}

}  // namespace miniapps::cli
