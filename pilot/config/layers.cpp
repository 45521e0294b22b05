#include "pilot/config/layers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "pilot/base/file.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/config/pilot_settings.hpp"
#include "pilot/config/site.hpp"
#include "pilot/config/yaml.hpp"

namespace pilot::config {
namespace {

// Variables with the prefix that are no settings.
constexpr std::array other_variables{
    "PILOT_HOME", "PILOT_SOFTWARE", "PILOT_SOURCE_DIR", "PILOT_BINARY_DIR", "PILOT_EXIT_ERROR",
    "PILOT_NAME", "PILOT_ID",       "PILOT_NODE",       "PILOT_SERVICE",    "PILOT_AGENT_OF"};

std::string variable_of(std::string_view key) {
  std::string name = "PILOT_";
  for (const char c : key) {
    if (c == '.') {
      name += "__";
    } else {
      name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  return name;
}

std::vector<std::string> path_of_variable(std::string_view name) {
  std::string key;
  for (const char c : name.substr(6)) key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::vector<std::string> path;
  for (auto at = key.find("__"); at != std::string::npos; at = key.find("__")) {
    path.push_back(key.substr(0, at));
    key.erase(0, at + 2);
  }
  path.push_back(key);
  return path;
}

// The variables that are settings.  One that is nearly a setting's name is a mistake; others with the
// prefix belong to somebody else.
Result<std::vector<FlagSetting>> environment_settings(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> known;
  for (const SettingDoc& doc : setting_docs())
    if (doc.key != "name") known.push_back(variable_of(doc.key));
  std::vector<FlagSetting> settings;
  for (const auto& [name, text] : environment) {
    if (!name.starts_with("PILOT_")) continue;
    const bool other =
        std::find(other_variables.begin(), other_variables.end(), name) != other_variables.end();
    if (other) continue;
    const bool setting = std::find(known.begin(), known.end(), name) != known.end() ||
                         name.starts_with("PILOT_FRAMEWORKS__") || name.starts_with("PILOT_BATCH__");
    if (setting) {
      settings.push_back({path_of_variable(name), text, name});
    } else if (const auto near = nearest(name, known)) {
      return make_error(ErrorCode::usage, fmt::format("environment variable {} is no setting", name),
                        fmt::format("did you mean '{}'?", *near));
    }
  }
  return settings;
}

bool is_framework_option(const FlagSetting& setting) {
  return setting.path.size() > 2 && setting.path.front() == "frameworks";
}

// Settings one by one as a layer.  Options of frameworks are left out: they name no framework, so they
// are put in after all layers are merged.
Value layer_of(const std::vector<FlagSetting>& settings) {
  Value layer = Value::map("");
  for (const FlagSetting& setting : settings) {
    if (is_framework_option(setting)) continue;
    Value* target = &layer;
    for (const std::string& key : setting.path) target = &target->entry(key, setting.origin);
    const bool again = target->kind == Value::Kind::scalar && setting.path.front() == "frameworks";
    *target = Value::scalar(again ? target->text + "," + setting.text : setting.text, setting.origin);
  }
  normalise_frameworks(layer);
  return layer;
}

Result<void> set_framework_options(Value& merged, const std::vector<FlagSetting>& settings) {
  for (const FlagSetting& setting : settings) {
    if (!is_framework_option(setting)) continue;
    const Value* frameworks = merged.find("frameworks");
    const std::string& name = setting.path[1];
    if (frameworks == nullptr || frameworks->kind != Value::Kind::map || frameworks->find(name) == nullptr) {
      std::vector<std::string> names;
      if (frameworks != nullptr)
        for (const Entry& entry : frameworks->entries) names.push_back(entry.key);
      return error_at(setting.origin, fmt::format("the pilot has no framework '{}'", name),
                      names.empty() ? fmt::format("add --framework {}", name) : suggestion(name, names));
    }
    Value* target = &merged;
    for (const std::string& key : setting.path) target = &target->entry(key, setting.origin);
    *target = Value::scalar(setting.text, setting.origin);
  }
  return ok();
}

Result<void> put_file(Value& merged, const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::is_regular_file(path, ignored)) return ok();
  PILOT_TRY(Value layer, read_yaml(path));
  normalise_frameworks(layer);
  if (!layer.is_null() && layer.kind != Value::Kind::map)
    return error_at(layer.origin, fmt::format("a spec must be a map, not {}", shape_of(layer)));
  if (!layer.is_null()) merged = merge(std::move(merged), layer);
  return ok();
}

Result<void> put_spec(Value& merged, const LayerInput& input) {
  Value layer;
  if (input.spec_file) {
    PILOT_TRY(layer, read_yaml(*input.spec_file));
  } else if (input.spec) {
    layer = *input.spec;
  }
  if (layer.is_null()) return ok();
  normalise_frameworks(layer);
  if (layer.kind != Value::Kind::map)
    return error_at(layer.origin, fmt::format("a spec must be a map, not {}", shape_of(layer)));
  merged = merge(std::move(merged), layer);
  return ok();
}

// Within a batch job its nodes are meant.
Value job_around_us(const std::map<std::string, std::string>& environment) {
  Value layer;
  for (const char* variable : {"SLURM_JOB_ID", "PBS_JOBID"}) {
    const auto found = environment.find(variable);
    if (found == environment.end() || found->second.empty()) continue;
    layer = Value::map(variable);
    layer.entry("resource", variable) = Value::scalar("allocation", variable);
    break;
  }
  return layer;
}

// What lies below `profile` is there in any case; the rest of the layers may say which profile it is.
Result<Value> merge_over(const LayerInput& input, const Value& profile) {
  Value merged = Value::map("");
  if (!profile.is_null()) merged = merge(std::move(merged), profile);
  if (const Value job = job_around_us(input.environment); !job.is_null()) merged = merge(merged, job);
  std::vector<std::filesystem::path> site;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(input.files.site, none))
    if (entry.path().extension() == ".yaml") site.push_back(entry.path());
  std::sort(site.begin(), site.end());
  for (const auto& path : site) PILOT_TRY_VOID(put_file(merged, path));
  PILOT_TRY_VOID(put_file(merged, input.files.user));
  PILOT_TRY_VOID(put_file(merged, input.files.project));
  PILOT_TRY_VOID(put_spec(merged, input));
  PILOT_TRY(const auto environment, environment_settings(input.environment));
  merged = merge(std::move(merged), layer_of(environment));
  merged = merge(std::move(merged), layer_of(input.flags));
  PILOT_TRY_VOID(set_framework_options(merged, environment));
  PILOT_TRY_VOID(set_framework_options(merged, input.flags));
  return merged;
}

}  // namespace

Result<FlagSetting> parse_option_flag(const std::string& text) {
  const auto equals = text.find('=');
  const auto dot = text.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 >= equals)
    return error_at("--option", fmt::format("'{}' is not of the form FRAMEWORK.OPTION=VALUE", text),
                    "for example kafka.controllers=3, or kafka.config.log.retention.hours=1");
  FlagSetting setting{{"frameworks", text.substr(0, dot)}, text.substr(equals + 1), "--option"};
  std::string key = text.substr(dot + 1, equals - dot - 1);
  if (key.starts_with("config.")) {
    setting.path.emplace_back("config");
    key.erase(0, 7);
  }
  setting.path.push_back(key);
  return setting;
}

LayerFiles default_layer_files() {
  LayerFiles files;
  files.user = xdg_config_directory() / "pilot" / "config.yaml";
  files.profiles = {xdg_config_directory() / "pilot" / "sites", files.site / "sites"};
  return files;
}

Result<Value> merge_layers(const LayerInput& input) {
  PILOT_TRY(Value merged, merge_over(input, {}));
  const Value* site = merged.find("site");
  if (site == nullptr || site->is_null()) return merged;
  PILOT_TRY(const SiteProfile profile, find_site(input.files.profiles, site->text, site->origin));
  return merge_over(input, profile.settings);
}

std::map<std::string, std::string> pilot_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    const bool wanted =
        text.starts_with("PILOT_") || text.starts_with("SLURM_JOB_") || text.starts_with("PBS_");
    if (wanted && equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace pilot::config
