// What `qstat -f` prints, and what it means.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adaptors/batch/host/batch_dialect.hpp"

namespace pilot::adaptors::pbs {

// The attributes of one job by their names, and its id under "".
using Attributes = std::map<std::string, std::string>;

// All jobs of a text.  A line that goes on after a tab is one value.  A value's own line breaks are printed
// as they are, so that a part of it may look like an attribute: the first of a name counts.
std::vector<Attributes> parse_qstat(std::string_view text);

// Times are UTC: qstat is run so.
host::JobStatus job_status(const Attributes& job);

// "node01,node02" of "node01/0*4+node02/0*4".
std::string hosts_of(std::string_view exec_host);

}  // namespace pilot::adaptors::pbs
