// The parts of a service's specification, with their placeholders filled in.
#pragma once

#include "pilot/agent/service_runner.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::agent {

// Makes the service's folders (and its log's) and writes its files.  Errors name the path or placeholder.
Result<void> write_service_files(const model::ServiceSpec& spec, const ServiceContext& context);

// A command ready to run: arguments and environment filled in, marks and working directory added.
Result<model::Command> complete(const model::Command& command, const ServiceContext& context);

// A probe whose command is complete.
Result<model::Readiness> complete(const model::Readiness& readiness, const ServiceContext& context);

}  // namespace pilot::agent
