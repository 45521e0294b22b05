// Lists of host names in the short form of batch systems: "n[001-003,7],gpu-a[1-2]-ib0".
//
// A list is names with commas between them.  A name may hold brackets with numbers and ranges in them,
// also several ("r[1-2]n[1-4]": the last one varies fastest).  A range counts up and pads to the width of
// its lower end: [9-11] is 9, 10, 11 and [09-11] is 09, 10, 11.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::model {

// All names of a list, in its order.  An empty list has none.  Errors: usage, with what is wrong where;
// also for more than 100,000 names.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

// The short form, from which expand_hosts() makes the same names in the same order again.
std::string compress_hosts(const std::vector<std::string>& hosts);

}  // namespace pilot::model
