// Keeps the log of a process that runs within a size.
#pragma once

#include <filesystem>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

// When the file has more than `limit`: its last `limit` bytes become PATH.1, in place of the one before, and
// it begins anew.  The process goes on writing to the same file, which it must have opened for appending;
// what it writes in that very moment may be lost.  True when it was cut.  Errors: failed.
Result<bool> limit_log(const std::filesystem::path& path, Bytes limit);

// Looks every ten seconds, from the loop, as long as the handle lives.
[[nodiscard]] EventLoop::Handle keep_limiting_log(EventLoop& loop, std::filesystem::path path, Bytes limit);

}  // namespace pilot::agent
