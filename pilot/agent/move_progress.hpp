// What a framework's tool says while it moves data, as a sentence for the event log.
#pragma once

#include <string>
#include <string_view>

namespace pilot::agent {

// `line` is JSON: {"event":"step","text":"electing leaders"} or {"event":"progress","moved_bytes":N,
// "total_bytes":N,"eta_s":N or null}.  Empty for any other, which nobody need read; a line that is no JSON
// is its own sentence.
std::string progress_sentence(std::string_view line);

}  // namespace pilot::agent
