// YAML text as a Value whose origins are "NAME:LINE:COLUMN" (from 1).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pilot/base/result.hpp"
#include "pilot/config/document.hpp"

namespace pilot::config {

// `name` stands in origins and messages.  Refuses what a reader would miss: keys that stand twice, more
// than one document, more than 20,000 values or 32 levels (aliases of aliases).  Errors: usage.
Result<Value> parse_yaml(std::string_view text, const std::string& name);

// Errors: not_found, usage.
Result<Value> read_yaml(const std::filesystem::path& path);

}  // namespace pilot::config
