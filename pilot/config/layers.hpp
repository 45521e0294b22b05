// The layers in which a setting can be written; a higher one wins:
//   flags > environment (PILOT_NODE__CORES) > spec file > ./pilot.yaml > user > /etc/pilot >
//   the batch job that this runs in > the profile of `site:` > default
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/config/document.hpp"

namespace pilot::config {

// A setting given on the command line: {{"node", "cores"}, "4", "--cores"}.
struct FlagSetting {
  std::vector<std::string> path;
  std::string text;
  std::string origin;
};

// "kafka.controllers=3" or "kafka.config.log.retention.hours=1" as given to --option.
Result<FlagSetting> parse_option_flag(const std::string& text);

// Files that are read when they exist.
struct LayerFiles {
  std::filesystem::path project = "pilot.yaml";
  std::filesystem::path user;                   // $XDG_CONFIG_HOME/pilot/config.yaml
  std::filesystem::path site = "/etc/pilot";    // a folder: its *.yaml, by name
  std::vector<std::filesystem::path> profiles;  // folders of sites' profiles, the first counts
};
LayerFiles default_layer_files();

struct LayerInput {
  std::vector<FlagSetting> flags;
  std::map<std::string, std::string> environment;  // PILOT_*, and those of a batch job
  std::optional<std::filesystem::path> spec_file;
  std::optional<Value> spec;  // a spec that is read already: the part of a scenario
  LayerFiles files = default_layer_files();
};

// All layers in one map of settings, each with its origin.  Errors: usage; not_found (the spec file).
Result<Value> merge_layers(const LayerInput& input);

// This process's variables that begin with PILOT_, SLURM_JOB_ or PBS_.
std::map<std::string, std::string> pilot_environment();

}  // namespace pilot::config
