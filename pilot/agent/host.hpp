// This machine's name, as it stands in endpoint.json and in the state.
#pragma once

#include <string>

namespace pilot::agent {

std::string host_name();

}  // namespace pilot::agent
