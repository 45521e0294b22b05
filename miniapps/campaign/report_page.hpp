// One HTML file that shows a run: figures, rates over time, latencies, slices, configuration.  It needs no
// script and no other file, and follows the reader's light or dark mode.
#pragma once

#include <string>

#include "miniapps/campaign/report_input.hpp"

namespace miniapps::campaign {

// Pictures that can't be read are left out.
std::string report_page(const ReportInput& input);

}  // namespace miniapps::campaign
