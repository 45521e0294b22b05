#include "pilot/agent/service_files.hpp"

#include <variant>

#include "pilot/base/file.hpp"

namespace pilot::agent {

Result<void> write_service_files(const model::ServiceSpec& spec, const ServiceContext& context) {
  for (const auto& directory : spec.directories) PILOT_TRY_VOID(make_directory(directory));
  if (!spec.log.empty()) PILOT_TRY_VOID(make_directory(std::filesystem::path(spec.log).parent_path()));
  for (const auto& file : spec.files) {
    auto content = context.fill_in(file.content);
    if (content.has_error()) return content.error().while_doing("file '" + file.path + "'");
    PILOT_TRY_VOID(write_file(file.path, content.value(), file.mode));
  }
  return ok();
}

Result<model::Command> complete(const model::Command& command, const ServiceContext& context) {
  model::Command result = command;
  for (auto& argument : result.argv) {
    PILOT_TRY(argument, context.fill_in(argument));
  }
  for (auto& [name, value] : result.env) {
    PILOT_TRY(value, context.fill_in(value));
  }
  for (const auto& [name, value] : context.environment) result.env[name] = value;
  if (result.directory.empty()) result.directory = context.directory;
  return result;
}

Result<model::Readiness> complete(const model::Readiness& readiness, const ServiceContext& context) {
  model::Readiness result = readiness;
  if (auto* probe = std::get_if<model::CommandProbe>(&result.probe)) {
    PILOT_TRY(probe->command, complete(probe->command, context));
  }
  return result;
}

}  // namespace pilot::agent
