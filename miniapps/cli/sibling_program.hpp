// Verbs whose work another installed program does, as git does it: `miniapp bench kernels` becomes
// kernels_bench, which stands beside miniapp.  For work that is built with what a user's machine may lack
// (Google Benchmark), and that this program must not link.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "miniapps/cli/command_tree.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::cli {

struct SiblingProgram {
  std::string verb;        // as it is typed: "miniapp bench kernels"; the program's argv[0]
  std::string file;        // "kernels_bench"
  std::string built_with;  // what the build needs for it: "libbenchmark-dev"
};

// The program in a folder.  Errors: not_found, with the package that was missing at build time.
pilot::Result<std::filesystem::path> find_sibling(const SiblingProgram& program,
                                                  const std::filesystem::path& folder);

// Adds a subcommand that hands all that follows it to the program, --help too.
void add_sibling(CLI::App& parent, const std::string& name, const std::string& about,
                 const SiblingProgram& program, Verb& chosen);

}  // namespace miniapps::cli
