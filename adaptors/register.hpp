// The adaptors of this program: the one place that names them all.
#pragma once

#include "pilot/plugin/registry.hpp"

namespace pilot::adaptors {

plugin::Registry all();

}  // namespace pilot::adaptors
