// The Java that runs a framework's servers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pilot/base/result.hpp"

namespace pilot::core {

struct Java {
  std::filesystem::path program;
  int version = 0;     // 17
  std::string text;    // "17.0.21"
  std::string origin;  // "JAVA_HOME" or "PATH"
};

// $JAVA_HOME/bin/java, else the first on PATH.  Errors: usage (JAVA_HOME is wrong), not_found, failed (it
// does not say what it is).
Result<Java> find_java();

// 17 of "17.0.21", 8 of "1.8.0_392"; 0 when it is no version.
int java_major(std::string_view version);

}  // namespace pilot::core
