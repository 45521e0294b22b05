#include "pilot/core/tool_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/file.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"

namespace pilot::core {

struct ToolRun::Impl {
  Options options;
  EventLoop loop;
  model::ProcessIdentity process = {};
  std::optional<proc::Watch> watch = {};
  std::optional<model::ExitStatus> status = {};
  int fd = -1;
  std::string part = {};  // of a line
  std::string last_line = {};

  Impl(Options given) : options(std::move(given)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (fd >= 0) close(fd);
  }

  void pass_line(std::string_view line) {
    if (!line.empty()) last_line = line;
    if (options.on_line) options.on_line(line);
  }

  void read_lines() {
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t count = read(fd, buffer.data(), buffer.size());
      if (count <= 0) break;
      part.append(buffer.data(), static_cast<std::size_t>(count));
      std::size_t start = 0;
      for (auto end = part.find('\n'); end != std::string::npos; end = part.find('\n', start)) {
        pass_line(std::string_view(part).substr(start, end - start));
        start = end + 1;
      }
      part.erase(0, start);
    }
    if (status && !part.empty()) pass_line(std::exchange(part, {}));
  }
};

ToolRun::ToolRun(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ToolRun::ToolRun(ToolRun&&) noexcept = default;

ToolRun& ToolRun::operator=(ToolRun&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

ToolRun::~ToolRun() {
  if (impl_ && !ended()) end(std::chrono::seconds(2));
}

Result<ToolRun> ToolRun::start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  const auto& path = impl->options.output;
  impl->fd = open(path.c_str(), O_CREAT | O_TRUNC | O_RDONLY | O_CLOEXEC, 0600);
  if (impl->fd < 0) return errno_error(fmt::format("cannot write '{}'", path.string()), errno);
  proc::SpawnOptions spawn;
  spawn.output = path;
  PILOT_TRY(impl->process, proc::spawn(impl->options.command, spawn));
  Impl* raw = impl.get();
  impl->watch.emplace(impl->loop, impl->process, [raw](model::ExitStatus status) { raw->status = status; });
  return ToolRun(std::move(impl));
}

bool ToolRun::wait_for(Duration time) {
  const Deadline deadline(system_clock(), time);
  do {
    if (!impl_->status)
      impl_->loop.run_for(std::min<Duration>(deadline.left(), std::chrono::milliseconds(50)));
    impl_->read_lines();
  } while (!impl_->status && !deadline.passed());
  return ended();
}

void ToolRun::signal(int number) {
  proc::send_signal_to_group(impl_->process, number);
}

void ToolRun::end(Duration grace) {
  signal(SIGINT);
  if (wait_for(grace)) return;
  signal(SIGKILL);
  wait_for(std::chrono::seconds(10));
}

bool ToolRun::ended() const {
  return impl_->status.has_value();
}
const model::ExitStatus& ToolRun::status() const {
  return *impl_->status;
}
const std::string& ToolRun::last_line() const {
  return impl_->last_line;
}
const std::filesystem::path& ToolRun::output() const {
  return impl_->options.output;
}
const model::ProcessIdentity& ToolRun::process() const {
  return impl_->process;
}

}  // namespace pilot::core
