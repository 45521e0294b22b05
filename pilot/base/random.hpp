// Random bytes from the kernel, for secrets and ids.
#pragma once

#include <string>

namespace pilot {

// `bytes` random bytes as 2 x `bytes` hexadecimal digits.  256-bit secrets: random_hex(32).
// Throws std::system_error if the kernel has none.
std::string random_hex(int bytes);

}  // namespace pilot
