// The words of a command line, parsed by the command tree (with CLI11, which stays in parser.cpp).
#pragma once

#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/cli/command.hpp"

namespace pilot::cli {

struct Invocation {
  std::vector<const Command*> path;  // from the root to the command that was named
  bool help = false;                 // -h or --help was given
  const Command& command() const { return *path.back(); }
};

// Fills the targets of the options and arguments.  Errors: usage, with a suggestion for a mistyped
// command, flag or choice.
Result<Invocation> parse(const Command& root, const std::vector<std::string>& words);

// "pilot frameworks install"
std::string path_text(const std::vector<const Command*>& path);

}  // namespace pilot::cli
