// The command line as data: one tree of commands, from which parsing, help, completion and man pages
// follow.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::cli {

// What completes a word.
enum class Completes { nothing, files, folders, pilots, resources, frameworks };

struct Option {
  std::string names;  // "-N,--nodes"
  std::string value;  // "N"; empty: a flag without a value
  std::string help;
  // bool: given or not; int: how often; a string keeps the last value, a vector all of them.
  std::variant<bool*, int*, std::string*, std::vector<std::string>*> target;
  std::vector<std::string> choices = {};
  Completes completes = Completes::nothing;
  std::string group = "Options";
};

struct Argument {
  std::string name;  // "NAME"
  std::string help;
  std::variant<std::string*, std::vector<std::string>*> target;
  bool required = false;
  std::vector<std::string> choices = {};
  Completes completes = Completes::nothing;
};

struct Command {
  std::string name;
  std::string summary;                     // one line, for lists
  std::string description = {};            // what help says under the examples
  std::vector<std::string> examples = {};  // "pilot start demo --nodes 3     # comment"
  std::vector<Argument> arguments = {};
  std::vector<Option> options = {};
  std::vector<Command> commands = {};
  // The exit code, or an error whose code it will be.  Keeps what the targets point to alive.
  std::function<Result<int>()> run = {};
  bool hidden = false;
};

// "--nodes" of "-N,--nodes"; "-N" when there is no long name.
std::string long_name(const Option& option);
std::vector<std::string> all_names(const Option& option);

}  // namespace pilot::cli
