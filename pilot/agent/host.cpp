#include "pilot/agent/host.hpp"

#include <unistd.h>

namespace pilot::agent {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

}  // namespace pilot::agent
