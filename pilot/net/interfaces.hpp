// The addresses that this machine has.
#pragma once

#include <string>

namespace pilot::net {

// For a person: "lo 127.0.0.1, eth0 10.77.0.12"; IPv4, as services use it.
std::string interfaces_text();

}  // namespace pilot::net
