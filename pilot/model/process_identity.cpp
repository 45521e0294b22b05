#include "pilot/model/process_identity.hpp"

#include <fmt/format.h>

namespace pilot::model {

std::string to_string(const ExitStatus& status) {
  if (!status.known) return "ended (its exit code is not known)";
  if (status.signal != 0) return fmt::format("killed by signal {}", status.signal);
  return fmt::format("exit code {}", status.code);
}

}  // namespace pilot::model
