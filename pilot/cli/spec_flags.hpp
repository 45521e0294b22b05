// The flags that describe a pilot, shared by start, run and config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pilot/cli/command.hpp"
#include "pilot/config/layers.hpp"
#include "pilot/config/pilot_settings.hpp"

namespace pilot::cli {

class SpecFlags {
 public:
  // Without -f where the spec comes from elsewhere (`with_file` false).
  std::vector<Option> options(bool with_file = true);

  // All layers, the flags on top.  `name`: an argument that stands for --name; `spec`: read already (of a
  // scenario), else the file of -f.  Errors: usage, not_found.
  Result<config::Value> settings(const std::string& name,
                                 const std::optional<config::Value>& spec = {}) const;
  Result<config::LocatedSpec> spec(const std::string& name,
                                   const std::optional<config::Value>& spec = {}) const;

 private:
  std::vector<Option> more_options();
  std::string file_, name_, resource_, nodes_, walltime_, queue_, account_, cores_, memory_, scratch_,
      subnet_, ports_, ready_timeout_;
  bool encrypt_ = false;
  std::vector<std::string> frameworks_, framework_options_;
};

}  // namespace pilot::cli
