#include "pilot/config/scenario.hpp"

#include <fmt/format.h>

#include "pilot/config/reader.hpp"
#include "pilot/config/yaml.hpp"

namespace pilot::config {
namespace {

Result<ScenarioStep> parse_step(const Value& item, const std::string& list) {
  if (item.kind == Value::Kind::scalar) return ScenarioStep{item.text, {}, item.origin};
  if (item.kind != Value::Kind::map || item.entries.size() != 1)
    return error_at(item.origin,
                    fmt::format("each of {} must be a name with its settings, not {}", list,
                                item.entries.size() > 1 ? "several" : shape_of(item)),
                    "for example '- light: {rate: 20/s}'");
  const Entry& entry = item.entries.front();
  ScenarioStep step{entry.key, {}, entry.origin};
  if (!entry.value.is_null() && entry.value.kind != Value::Kind::map)
    return error_at(entry.value.origin, fmt::format("the settings of {} must be a map, not {}", entry.key,
                                                    shape_of(entry.value)));
  for (const Entry& setting : entry.value.entries) {
    if (setting.value.kind == Value::Kind::map)
      return error_at(setting.value.origin,
                      fmt::format("{}.{} must be a value or a list, not a map", entry.key, setting.key));
    if (setting.value.kind != Value::Kind::list) step.flags.emplace_back(setting.key, setting.value.text);
    for (const Value& one : setting.value.items) {
      if (one.kind != Value::Kind::scalar)
        return error_at(one.origin, fmt::format("{}.{} must be a list of values", entry.key, setting.key));
      step.flags.emplace_back(setting.key, one.text);
    }
  }
  return step;
}

Result<std::vector<ScenarioStep>> parse_steps(const Value* value, const std::string& list) {
  std::vector<ScenarioStep> steps;
  if (value == nullptr) return steps;
  if (value->kind != Value::Kind::list)
    return error_at(value->origin, fmt::format("{} must be a list, not {}", list, shape_of(*value)));
  for (const Value& item : value->items) {
    PILOT_TRY(ScenarioStep step, parse_step(item, list));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::vector<std::string> ScenarioStep::arguments() const {
  std::vector<std::string> words;
  for (const auto& [key, text] : flags) {
    if (text == "false") continue;
    std::string flag = "--" + key;
    for (char& c : flag)
      if (c == '_') c = '-';
    words.push_back(std::move(flag));
    if (text != "true") words.push_back(text);
  }
  return words;
}

Result<Scenario> parse_scenario(const Value& document) {
  Scenario scenario;
  if (document.is_null()) return error_at(document.origin, "the scenario is empty");
  PILOT_TRY(const MapReader reader,
            MapReader::open(&document, "", {"pilot", "sources", "processors", "output", "timeout"}));
  if (const Value* pilot = reader.find("pilot")) {
    if (pilot->kind != Value::Kind::map)
      return error_at(pilot->origin, fmt::format("pilot must be a spec, not {}", shape_of(*pilot)));
    scenario.pilot = *pilot;
  } else {
    return error_at(document.origin, "a scenario needs a pilot", "a spec under the key 'pilot'");
  }
  PILOT_TRY(scenario.sources, parse_steps(reader.find("sources"), "sources"));
  PILOT_TRY(scenario.processors, parse_steps(reader.find("processors"), "processors"));
  std::string output = scenario.output.string();
  PILOT_TRY_VOID(reader.read("output", output));
  scenario.output = output;
  PILOT_TRY_VOID(reader.read("timeout", scenario.timeout));
  return scenario;
}

Result<Scenario> read_scenario(const std::filesystem::path& path) {
  PILOT_TRY(const Value document, read_yaml(path));
  return parse_scenario(document);
}

}  // namespace pilot::config
