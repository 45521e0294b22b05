// For tests: commands.
#pragma once

#include <string>

#include "pilot/model/service_spec.hpp"

namespace pilot::proc::test {

inline model::Command shell(const std::string& script) {
  return {{"sh", "-c", script}, {}, ""};
}

}  // namespace pilot::proc::test
