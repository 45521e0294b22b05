#include "pilot/cli/command.hpp"

#include <sstream>

namespace pilot::cli {

std::vector<std::string> all_names(const Option& option) {
  std::vector<std::string> names;
  std::istringstream words(option.names);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  return names;
}

std::string long_name(const Option& option) {
  const auto names = all_names(option);
  for (const std::string& name : names)
    if (name.starts_with("--")) return name;
  return names.front();
}

}  // namespace pilot::cli
