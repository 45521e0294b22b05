// What `pilot run` does: a pilot, the mini-apps that generate and process data on it, and where the
// results go.  Its YAML form is in README.md.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"
#include "pilot/config/document.hpp"

namespace pilot::config {

// One `miniapp source NAME` or `miniapp process NAME`, its settings being its flags.
struct ScenarioStep {
  std::string name;  // "light", "gridrec"
  // In the order of the file: {"rate", "20/s"}; a list gives its flag several times, `true` gives the
  // flag alone, `false` none.
  std::vector<std::pair<std::string, std::string>> flags;
  std::string origin;

  std::vector<std::string> arguments() const;  // {"--rate", "20/s", ...}
};

struct Scenario {
  Value pilot;  // a spec; put into LayerInput::spec
  std::vector<ScenarioStep> sources, processors;
  std::filesystem::path output = "out";
  Duration timeout = std::chrono::minutes(10);  // for the data to be processed, from ready on
};

// Errors: usage (at a place); not_found.
Result<Scenario> read_scenario(const std::filesystem::path& path);
Result<Scenario> parse_scenario(const Value& document);

}  // namespace pilot::config
