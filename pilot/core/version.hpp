// This program's version.
#pragma once

#include <string_view>

namespace pilot::core {

std::string_view version();  // "0.1.0"

}  // namespace pilot::core
