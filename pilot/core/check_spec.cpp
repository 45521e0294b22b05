#include "pilot/core/check_spec.hpp"

#include <fmt/format.h>

#include "pilot/base/suggest.hpp"

namespace pilot::core {
namespace {

using Origins = std::map<std::string, std::string>;

// Puts the place of the first of these settings that was written in front of the error.
Error placed(const Error& error, const Origins& origins, std::initializer_list<std::string> keys) {
  for (const std::string& key : keys)
    if (const auto found = origins.find(key); found != origins.end() && !found->second.empty())
      return error.while_doing(found->second);
  return error;
}

std::vector<std::string> names_of(const std::vector<plugin::OptionDoc>& options) {
  std::vector<std::string> names;
  for (const plugin::OptionDoc& option : options) names.push_back(option.name);
  return names;
}

Result<void> check_options(const std::map<std::string, std::string>& given,
                           const std::vector<plugin::OptionDoc>& known, const std::string& owner,
                           const std::string& path, const Origins& origins) {
  const auto names = names_of(known);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const Error error = make_error(ErrorCode::usage, fmt::format("{} has no option '{}'", owner, name),
                                   suggestion(name, names));
    return placed(error, origins, {path + name});
  }
  return ok();
}

Result<void> check_framework(const plugin::Registry& registry, const model::PilotSpec& spec,
                             const model::FrameworkSpec& framework, const Origins& origins) {
  const std::string path = "frameworks." + framework.name;
  const auto adaptor = registry.framework(framework.name);
  if (!adaptor.has_value()) return placed(adaptor.error(), origins, {path, "frameworks"});
  PILOT_TRY_VOID(check_options(framework.options, adaptor.value()->options(),
                               fmt::format("framework '{}'", framework.name), path + ".", origins));
  if (auto checked = adaptor.value()->check(framework, spec); !checked.has_value()) {
    // The adaptor names the option in its message: take that option's place.
    for (const auto& [name, value] : framework.options)
      if (checked.error().message.find(name) != std::string::npos)
        return placed(checked.error(), origins, {path + "." + name});
    for (const auto& [name, value] : framework.config)
      if (checked.error().message.find(name) != std::string::npos)
        return placed(checked.error(), origins, {path + ".config." + name});
    return placed(checked.error(), origins, {path});
  }
  return ok();
}

}  // namespace

Result<void> check_spec(const plugin::Registry& registry, const model::PilotSpec& spec,
                        const Origins& origins) {
  const auto batch = registry.batch(spec.resource);
  if (!batch.has_value()) return placed(batch.error(), origins, {"resource"});
  PILOT_TRY_VOID(check_options(spec.batch, batch.value()->options(),
                               fmt::format("resource '{}'", spec.resource), "batch.", origins));
  if (auto checked = batch.value()->check(spec); !checked.has_value()) {
    for (const char* key : {"network.subnet", "node.memory", "node.cores", "nodes"})
      if (checked.error().message.find(key) != std::string::npos)
        return placed(checked.error(), origins, {key});
    return checked.error();
  }
  for (const model::FrameworkSpec& framework : spec.frameworks)
    PILOT_TRY_VOID(check_framework(registry, spec, framework, origins));
  return ok();
}

}  // namespace pilot::core
