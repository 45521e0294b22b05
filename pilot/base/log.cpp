#include "pilot/base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "pilot/base/clock.hpp"

namespace pilot::log {

namespace {

std::atomic<Level> threshold{Level::warning};
std::mutex sink_mutex;  // guards `sink`, so that to_file() doesn't close it under a writer
int sink = STDERR_FILENO;

std::string_view padded_name(Level level) {
  constexpr std::array<std::string_view, 5> names{"debug", "info ", "warn ", "error", "off  "};
  return names[static_cast<std::size_t>(level)];
}

// One message stays one line, whatever a child process or a peer put into it.
std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {
      line += "\\r";
    } else {
      line += c;
    }
  }
  return line;
}

void write_all(int fd, std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(fd, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // there is nowhere left to complain
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

void set_sink(int fd) {
  const std::lock_guard lock(sink_mutex);
  if (sink != STDERR_FILENO) ::close(sink);
  sink = fd;
}

}  // namespace

void set_level(Level new_level) {
  threshold.store(new_level, std::memory_order_relaxed);
}

Level level() {
  return threshold.load(std::memory_order_relaxed);
}

void to_file(const std::filesystem::path& path) {
  const int opened = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const int saved_errno = errno;
  set_sink(opened < 0 ? STDERR_FILENO : opened);
  if (opened < 0) warning("cannot open log file '{}': {}", path.string(), std::strerror(saved_errno));
}

void to_standard_error() {
  set_sink(STDERR_FILENO);
}

void write(Level of_line, std::string_view text) {
  if (of_line == Level::off || of_line < level()) return;
  const std::string line =
      fmt::format("{} {} {}\n", iso8601(system_clock().wall()), padded_name(of_line), one_line(text));
  // A single write(2) with O_APPEND: lines of several processes don't mix.
  const std::lock_guard lock(sink_mutex);
  write_all(sink, line);
}

}  // namespace pilot::log
