// Finds out what a folder with Kafka in it is.
#pragma once

#include <filesystem>

#include "pilot/base/result.hpp"
#include "pilot/plugin/software.hpp"

namespace pilot::adaptors::kafka {

// `home` is a folder made by share/install.sh or an unpacked release: both have their jars in libs/.
// Details: "classpath"; of a folder that install.sh made also "template" (features of a new cluster) and
// "cds.broker", "cds.controller" (class-data archives) as far as they are there.
// Errors: not_found (no Kafka there), usage (Java or Kafka too old).
Result<plugin::Software> inspect_software(const std::filesystem::path& home,
                                          const std::filesystem::path& java, int java_version);

}  // namespace pilot::adaptors::kafka
