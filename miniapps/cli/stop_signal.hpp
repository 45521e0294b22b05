// Ctrl-C and SIGTERM as a value: the first one asks the work to end in order, a second one ends the
// program at once.
#pragma once

#include <atomic>

namespace miniapps::cli {

// The signal that arrived, or 0.
const std::atomic<int>& stop_signal();

// From now on the first SIGINT or SIGTERM is remembered instead of ending the program.  Call it when the
// work that can end in order begins: until then Ctrl-C has its usual effect.
void catch_stop_signals();

}  // namespace miniapps::cli
