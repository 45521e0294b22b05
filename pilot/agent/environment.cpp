#include "pilot/agent/environment.hpp"

#include <cstdlib>

namespace pilot::agent {

Environment node_environment(const std::string& pilot_id, const std::string& node) {
  return {{pilot_id_variable, pilot_id}, {node_variable, node}};
}

Environment service_environment(const std::string& pilot_id, const std::string& node,
                                const std::string& service) {
  Environment environment = node_environment(pilot_id, node);
  environment[service_variable] = service;
  return environment;
}

void leave_service_environment() {
  for (const char* variable : {pilot_id_variable, node_variable, service_variable}) ::unsetenv(variable);
}

}  // namespace pilot::agent
