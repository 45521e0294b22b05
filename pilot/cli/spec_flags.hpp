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
  std::vector<Option> batch_flags();
  Result<void> add_cores(config::LayerInput& input) const;
  Result<void> add_batch_options(config::LayerInput& input) const;
  std::string file_, name_, resource_, site_, nodes_, walltime_, queue_, account_, tasks_, cores_, memory_,
      scratch_, subnet_, ports_, ready_timeout_, lost_after_;
  std::string qos_, constraint_, gres_, gpus_, mem_, reservation_, mail_;
  bool encrypt_ = false, exclusive_ = false;
  std::vector<std::string> frameworks_, framework_options_, batch_options_;
};

}  // namespace pilot::cli
