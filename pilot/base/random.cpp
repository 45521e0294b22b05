#include "pilot/base/random.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

namespace pilot {

std::string random_hex(int bytes) {
  std::vector<unsigned char> raw(static_cast<std::size_t>(std::max(bytes, 0)));
  std::size_t filled = 0;
  while (filled < raw.size()) {
    const ssize_t got = getrandom(raw.data() + filled, raw.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    // Nothing weaker may stand in for a secret, so there is no fallback.
    if (got < 0) throw std::system_error(errno, std::generic_category(), "cannot get random bytes");
    filled += static_cast<std::size_t>(got);
  }
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * raw.size());
  for (const unsigned char byte : raw) {
    hex += digits[byte >> 4];
    hex += digits[byte & 0xF];
  }
  return hex;
}

}  // namespace pilot
