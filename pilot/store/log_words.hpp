// Words in agents' logs that commands look for, since who says them can't be asked.
#pragma once

namespace pilot::store {

// A node's agent that never came to the head; the address that it tried follows, and its own.
inline constexpr const char* never_heard = "nothing was ever heard of the head agent at ";

}  // namespace pilot::store
