// "key=value" files: Kafka's server.properties, and the librdkafka configurations that we write.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka {

// In the order of the file; a key may appear twice.
using Properties = std::vector<std::pair<std::string, std::string>>;

// Blank lines and lines that begin with '#' or '!' are left out; blanks around keys and before values
// too.  A backslash takes the next letter as it is (Java's form).  Errors: usage, naming the line.
Result<Properties> parse_properties(std::string_view text);

// Errors: not_found, failed (can't be read), usage (naming file and line).
Result<Properties> read_properties(const std::filesystem::path& path);

// The last value of a key; empty when there is none.
std::string value_of(const Properties& properties, std::string_view key);

}  // namespace pilot::adaptors::kafka
