// Completion of command lines in the shells.
#pragma once

#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/cli/command.hpp"

namespace pilot::cli {

// What a shell sources: it asks `pilot __complete` for the words.  SHELL: bash, zsh, fish.
Result<std::string> completion_script(const std::string& shell);

// Where names come from that only the running system knows.
struct CompletionSources {
  std::vector<std::string> pilots, resources, frameworks;
};

struct Candidates {
  std::vector<std::string> words;
  Completes files = Completes::nothing;  // also files or folders
};

// The words that can stand in the place of the last of `words` (which may be empty); `words` begins
// after the program's name.
Candidates complete(const Command& root, const std::vector<std::string>& words,
                    const CompletionSources& sources);

}  // namespace pilot::cli
