// Where this installation keeps its parts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pilot/base/result.hpp"

namespace pilot::core {

// The folder of the running program: bin/ of the installation or of the build.
std::filesystem::path program_folder();

// One of our programs, beside the running one or on PATH.  Errors: not_found.
Result<std::filesystem::path> find_program(const std::string& name);

// A framework's recipe and its files: BIN/../share/pilot/NAME of an installation, or the source tree's
// adaptors/framework/NAME/share ($PILOT_SOURCE_DIR, or the tree that the build folder belongs to).
// Errors: not_found, naming the places.
Result<std::filesystem::path> share_folder(std::string_view framework);

// The profiles of sites: BIN/../share/pilot/sites, or the source tree's as above.  Empty: there are none.
std::filesystem::path sites_folder();

std::string user_name();
std::string host_name();

}  // namespace pilot::core
