// Ctrl-C and SIGTERM as a value: the first one asks the work to end in order, a second one ends the
// program at once.
#pragma once

#include <atomic>

namespace miniapps::cli {

// The signal that arrived, or 0.  The first call installs the handlers.
const std::atomic<int>& stop_signal();

}  // namespace miniapps::cli
