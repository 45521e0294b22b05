#include "pilot/proc/command_run.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include "pilot/proc/identity.hpp"
#include "pilot/proc/launch.hpp"
#include "pilot/proc/proc_stat.hpp"
#include "pilot/proc/process.hpp"

namespace pilot::proc {

namespace {

constexpr std::size_t most_output = 1 << 20;
constexpr std::size_t most_complaint = 500;

struct Pipe {
  OwnedFd reader, writer;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  Pipe pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);  // ours only: the tool's end must block as usual
  return pipe;
}

// The input as a file without a name: no writing while the tool runs, and no size limit.
Result<OwnedFd> input_file(const std::string& input) {
  if (input.empty()) {
    OwnedFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (null.get() < 0) return errno_error("cannot open '/dev/null'", errno);
    return null;
  }
  OwnedFd file(::memfd_create("input", MFD_CLOEXEC));
  if (file.get() < 0) return errno_error("cannot make a file for a command's input", errno);
  std::string_view rest = input;
  while (!rest.empty()) {
    const ssize_t count = ::write(file.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("cannot write a command's input", errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Reads what is there.  False at the end of the stream.
bool drain(int fd, std::string& into) {
  char buffer[16384];
  while (true) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count > 0) {
      into.append(buffer, std::min(static_cast<std::size_t>(count), most_output - into.size()));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

// Reaps a killed process when it ends.  Owned by the loop: by a timer's task, which goes with the loop.
struct Reaper {
  std::optional<Watch> watch;
  EventLoop::Handle owner;
};

void reap_later(EventLoop& loop, const model::ProcessIdentity& process) {
  const auto reaper = std::make_shared<Reaper>();
  reaper->owner = loop.every(std::chrono::hours(24), [reaper] {});
  reaper->watch.emplace(loop, process,
                        [raw = reaper.get()](const model::ExitStatus&) { raw->owner.cancel(); });
}

}  // namespace

std::string CommandResult::complaint(const std::string& tool) const {
  std::string text = tool;
  if (timed_out) {
    text += " did not end in time and was killed";
  } else if (status.signal != 0) {
    text += " was killed by signal " + std::to_string(status.signal);
  } else if (!status.known) {
    text += " ended";
  } else {
    text += " exited " + std::to_string(status.code);
  }
  std::string_view words = trimmed(err);
  if (words.empty()) words = trimmed(out);
  if (words.size() > most_complaint) words = trimmed(words.substr(words.size() - most_complaint));
  if (!words.empty()) text.append(": ").append(words);
  return text;
}

struct CommandRun::Impl {
  EventLoop& loop;
  std::function<void(Result<CommandResult>)> on_end;
  CommandResult result;
  model::ProcessIdentity process;
  Pipe out, err;
  EventLoop::Handle out_readable, err_readable, deadline;
  std::optional<Watch> watch;

  std::function<void(std::string_view)> on_line;
  std::size_t told = 0;  // bytes of the output that on_line has had

  Impl(EventLoop& l, std::function<void(Result<CommandResult>)> f) : loop(l), on_end(std::move(f)) {}

  ~Impl() {
    if (!process || !watch) return;
    watch.reset();
    send_signal_to_group(process, SIGKILL);
    reap_later(loop, process);
  }

  Result<void> start(const model::Command& command, const std::string& input) {
    PILOT_TRY(out, make_pipe());
    PILOT_TRY(err, make_pipe());
    PILOT_TRY(const OwnedFd in, input_file(input));
    PILOT_TRY(const pid_t pid, launch(command, {in.get(), out.writer.get(), err.writer.get(), {}}));
    out.writer.reset();
    err.writer.reset();
    const auto stat = read_proc_stat(pid);
    if (!stat) return make_error(ErrorCode::internal, "cannot read /proc/" + std::to_string(pid) + "/stat");
    process = {pid, stat->start_ticks, boot_id()};
    return ok();
  }

  void run(Duration timeout) {
    out_readable = loop.on_readable(out.reader.get(), [this] {
      if (!drain(out.reader.get(), result.out)) out_readable.cancel();
      tell_lines();
    });
    err_readable = loop.on_readable(err.reader.get(), [this] {
      if (!drain(err.reader.get(), result.err)) err_readable.cancel();
    });
    deadline = loop.after(timeout, [this] {
      result.timed_out = true;
      send_signal_to_group(process, SIGKILL);
    });
    watch.emplace(loop, process, [this](const model::ExitStatus& status) { finish(status); });
  }

  void tell_lines() {
    for (std::size_t end = 0; on_line && (end = result.out.find('\n', told)) != std::string::npos;) {
      const auto line = std::string_view(result.out).substr(told, end - told);
      told = end + 1;
      on_line(line);
    }
  }

  void finish(const model::ExitStatus& status) {
    result.status = status;
    drain(out.reader.get(), result.out);
    drain(err.reader.get(), result.err);
    tell_lines();
    out_readable.cancel();
    err_readable.cancel();
    deadline.cancel();
    watch.reset();
    std::exchange(on_end, nullptr)(std::move(result));  // may destroy this
  }
};

CommandRun::CommandRun(EventLoop& loop, const model::Command& command, Duration timeout,
                       std::function<void(Result<CommandResult>)> on_end, const std::string& input)
    : impl_(std::make_unique<Impl>(loop, std::move(on_end))) {
  auto started = impl_->start(command, input);
  if (started.has_value()) {
    impl_->run(timeout);
    return;
  }
  impl_->deadline = loop.after(Duration{0}, [impl = impl_.get(), error = std::move(started).error()] {
    std::exchange(impl->on_end, nullptr)(error);
  });
}

CommandRun::~CommandRun() = default;

void CommandRun::follow(std::function<void(std::string_view line)> on_line) {
  impl_->on_line = std::move(on_line);
}

void CommandRun::ask_to_end() {
  if (impl_->process && impl_->watch) send_signal_to_group(impl_->process, SIGTERM);
}

Result<CommandResult> run_command(const model::Command& command, Duration timeout, const std::string& input) {
  EventLoop loop;
  std::optional<Result<CommandResult>> result;
  const CommandRun run(
      loop, command, timeout,
      [&](Result<CommandResult> ended_with) {
        result.emplace(std::move(ended_with));
        loop.stop();
      },
      input);
  loop.run();
  return std::move(*result);
}

}  // namespace pilot::proc
