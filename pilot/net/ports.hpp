// Free TCP ports of an address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::net {

// `count` ports of first..last on which `address` can be listened on now, starting the search at a
// place that depends on `seed` so that two pilots on one node begin far apart.
// Errors: failed ("only 3 of 8 ports are free in 20000-20003 on 127.0.0.1"), hint: network.ports.
Result<std::vector<std::uint16_t>> find_free_ports(const std::string& address, std::uint16_t first,
                                                   std::uint16_t last, int count, const std::string& seed);

}  // namespace pilot::net
