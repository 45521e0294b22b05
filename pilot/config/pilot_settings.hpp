// The settings of a pilot: their keys, what each means, and the spec that they make.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/config/document.hpp"
#include "pilot/model/pilot_spec.hpp"

namespace pilot::config {

struct SettingDoc {
  std::string_view key;            // "node.memory"
  std::string_view value;          // "SIZE": the kind of value
  std::string_view default_value;  // as it would be written; empty: none
  std::string_view help;
};

// In the order in which a spec is usually written.
std::span<const SettingDoc> setting_docs();

// A spec and where each of its settings was written: "nodes" -> "spec.yaml:3:8",
// "frameworks.kafka.controllers" -> "--option".
struct LocatedSpec {
  model::PilotSpec spec;
  std::map<std::string, std::string> origins;
};

// Errors: usage, at the place of the first setting that is not right.  The name may be missing.
Result<LocatedSpec> decode_pilot_spec(const Value& settings);

// `frameworks: [kafka]` and `frameworks: kafka, spark` as the map {kafka: , spark: } that is the whole
// set; other values stay as they are.
void normalise_frameworks(Value& settings);

// "name" if it can name a pilot (letters, digits, '.', '_', '-', at most 63); an error otherwise.
Result<void> check_pilot_name(const std::string& name, const std::string& origin);

// One line of `pilot config show`.
struct ShownSetting {
  std::string key, value, origin;  // origin "default" when it is not set anywhere
};
std::vector<ShownSetting> show_settings(const Value& settings);

}  // namespace pilot::config
