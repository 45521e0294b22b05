// A node's folder for its services' data.  It is removed as a whole when the pilot stops, so a mark in
// it says that it is ours: a folder of somebody else that was named by mistake is never touched.
#pragma once

#include <filesystem>
#include <string>

#include "pilot/base/result.hpp"

namespace pilot::agent {

// Makes the folder (0700) and marks it.  Errors: usage, when it is not empty and not of this pilot.
Result<void> take_scratch(const std::filesystem::path& folder, const std::string& pilot_id);

// Removes it, if it bears this pilot's mark; one that is not there is success.
Result<void> remove_scratch(const std::filesystem::path& folder, const std::string& pilot_id);

}  // namespace pilot::agent
