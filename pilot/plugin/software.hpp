// An installed framework, and the recipe that installs one.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pilot/model/service_spec.hpp"

namespace pilot::plugin {

struct Software {
  std::string framework;                       // "kafka"
  std::string version;                         // "4.3.1"
  std::filesystem::path home;                  // the folder with its files
  std::string origin;                          // "installed", or the variable that named it: "KAFKA_HOME"
  std::filesystem::path java;                  // the java that runs it, when it needs one
  std::map<std::string, std::string> details;  // the adaptor's own findings: "classpath", "cds.server" ...
  bool operator==(const Software&) const = default;
};

// How `pilot frameworks install` makes a Software folder: one script, run with PREFIX (the folder to
// make) and SHARE (the recipe's own files) in its environment.  It must be repeatable, resume after an
// interruption, and print a line per step on standard error.
struct InstallRecipe {
  std::string framework;
  std::string version;
  std::filesystem::path script;  // relative to the framework's share folder
};

}  // namespace pilot::plugin
