// All commands of the program `pilot`.
#pragma once

#include <memory>

#include "pilot/cli/command.hpp"
#include "pilot/cli/session.hpp"

namespace pilot::cli {

// The tree points to itself (help, man and completion print it) and to the session.
std::unique_ptr<Command> make_command_tree(Session& session);

}  // namespace pilot::cli
