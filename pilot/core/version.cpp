#include "pilot/core/version.hpp"

namespace pilot::core {

std::string_view version() {
  return PILOT_VERSION;
}

}  // namespace pilot::core
