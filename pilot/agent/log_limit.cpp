#include "pilot/agent/log_limit.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "pilot/base/log.hpp"

namespace pilot::agent {

namespace {

constexpr Duration log_look_interval = std::chrono::seconds(10);

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

Result<bool> limit_log(const std::filesystem::path& path, Bytes limit) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || static_cast<std::uint64_t>(status.st_size) <= limit.count)
    return false;
  const auto failed = [&] { return errno_error(fmt::format("cannot cut '{}'", path.string()), errno); };
  const Descriptor log{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  if (log.number < 0) return failed();
  const std::string fresh = path.string() + ".new";
  const Descriptor kept{::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  if (kept.number < 0) return failed();
  off_t at = status.st_size - static_cast<off_t>(limit.count);
  while (at < status.st_size) {
    const auto sent = ::sendfile(kept.number, log.number, &at, static_cast<std::size_t>(status.st_size - at));
    if (sent <= 0) break;  // a full disk: what is there is kept, and the log is cut all the same
  }
  if (::ftruncate(log.number, 0) != 0) return failed();
  if (::rename(fresh.c_str(), (path.string() + ".1").c_str()) != 0) return failed();
  return true;
}

EventLoop::Handle keep_limiting_log(EventLoop& loop, std::filesystem::path path, Bytes limit) {
  return loop.every(log_look_interval, [path = std::move(path), limit] {
    if (const auto cut = limit_log(path, limit); cut.has_error()) log::warning("{}", cut.error().text());
  });
}

}  // namespace pilot::agent
