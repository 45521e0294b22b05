#include "pilot/proc/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "pilot/proc/identity.hpp"
#include "pilot/proc/launch.hpp"
#include "pilot/proc/pidfd.hpp"
#include "pilot/proc/proc_stat.hpp"

namespace pilot::proc {

namespace {

constexpr Duration poll_interval = std::chrono::milliseconds(200);

model::ExitStatus from_wait(int status) {
  model::ExitStatus result;
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.code = WEXITSTATUS(status);
  }
  return result;
}

// How the process ended, reaping it when it is our child; nothing while it runs.
std::optional<model::ExitStatus> ended(const model::ProcessIdentity& process) {
  const model::ExitStatus unknown{.known = false, .code = 0, .signal = 0};
  const auto stat = process.boot_id == boot_id() ? read_proc_stat(process.pid) : std::nullopt;
  // Another start time: the number has been given to another process, maybe to a child of ours.
  if (!stat || stat->start_ticks != process.start_ticks) return unknown;
  if (stat->runs()) return std::nullopt;
  int status = 0;
  pid_t reaped;
  do reaped = ::waitpid(process.pid, &status, WNOHANG);
  while (reaped < 0 && errno == EINTR);
  if (reaped == process.pid) return from_wait(status);
  if (reaped == 0) return std::nullopt;  // between its end and its being ready to be reaped
  return unknown;                        // somebody else's child
}

}  // namespace

Result<model::ProcessIdentity> spawn(const model::Command& command, const SpawnOptions& options) {
  const OwnedFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.get() < 0) return errno_error("cannot open '/dev/null'", errno);
  OwnedFd output;
  if (!options.output.empty()) {
    output.reset(::open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (output.get() < 0) return errno_error("cannot open '" + options.output.string() + "'", errno);
  }
  const int out = output.get() >= 0 ? output.get() : null.get();
  PILOT_TRY(const pid_t pid, launch(command, {null.get(), out, out, options.inherit}));
  const auto stat = read_proc_stat(pid);  // it is our child: there even if it has ended
  if (!stat) return make_error(ErrorCode::internal, "cannot read /proc/" + std::to_string(pid) + "/stat");
  return model::ProcessIdentity{pid, stat->start_ticks, boot_id()};
}

struct Watch::Impl {
  EventLoop& loop;
  model::ProcessIdentity process;
  std::function<void(model::ExitStatus)> on_end;
  Pidfd pidfd;
  EventLoop::Handle readable, timer;

  Impl(EventLoop& l, const model::ProcessIdentity& p, std::function<void(model::ExitStatus)> f, WatchBy by)
      : loop(l), process(p), on_end(std::move(f)), pidfd(by == WatchBy::pidfd ? p.pid : 0) {
    if (pidfd.valid()) {
      readable = loop.on_readable(pidfd.fd(), [this] { check(); });
    } else {
      timer = loop.every(poll_interval, [this] { check(); });
    }
    first = loop.after(Duration{0}, [this] { check(); });  // it may have ended before
  }

  void check() {
    const auto status = ended(process);
    if (!status) return;
    readable.cancel();
    timer.cancel();
    first.cancel();
    std::exchange(on_end, nullptr)(*status);  // may destroy this
  }

  EventLoop::Handle first;
};

Watch::Watch(EventLoop& loop, const model::ProcessIdentity& process,
             std::function<void(model::ExitStatus)> on_end, WatchBy by)
    : impl_(std::make_unique<Impl>(loop, process, std::move(on_end), by)) {}
Watch::~Watch() = default;
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;

}  // namespace pilot::proc
