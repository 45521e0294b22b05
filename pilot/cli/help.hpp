// Help text and man pages from the command tree.
#pragma once

#include <string>
#include <vector>

#include "pilot/cli/command.hpp"

namespace pilot::cli {

// Examples first, then what it does, its arguments and its options.
std::string help_text(const std::vector<const Command*>& path);

// "usage: pilot start [OPTION]... [NAME]"
std::string usage_line(const std::vector<const Command*>& path);

struct ManPage {
  std::string file;  // "pilot-start.1"
  std::string text;  // roff
};

// One page per command that can be run, and pilot.1.  Same tree, same version: same text.
std::vector<ManPage> man_pages(const Command& root);

}  // namespace pilot::cli
