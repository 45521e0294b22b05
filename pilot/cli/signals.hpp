// Ctrl-C and SIGTERM as a value: the first asks, the second ends the program at once.
#pragma once

namespace pilot::cli {

void catch_signals();

// The signal that arrived, or 0.
int signal_received();

}  // namespace pilot::cli
