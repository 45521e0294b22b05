#include "pilot/proc/launch.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "pilot/base/error.hpp"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace pilot::proc {

namespace {

enum class Stage : int { session, files, directory, exec };

struct Failure {
  Stage stage;
  int error;
};

// All that the child needs, made before the fork: afterwards only async-signal-safe calls are allowed,
// since another thread may have held any lock (malloc's too) at that moment.
struct Prepared {
  std::string program;
  std::vector<char*> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp;
  const char* directory = nullptr;
  std::vector<int> keep;  // sorted
};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

// As execvp does, with the command's own PATH.  An empty answer: nothing executable was found.
std::string find_program(const std::string& name, const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  for (const auto& entry : environment)
    if (entry.starts_with("PATH=")) path = entry.substr(5);
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
    const std::string candidate = folder + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return {};
}

Result<Prepared> prepare(const model::Command& command, const LaunchFiles& files) {
  if (command.argv.empty()) return make_error(ErrorCode::internal, "a command without arguments");
  Prepared prepared;
  prepared.environment = merged_environment(command.env);
  prepared.program = find_program(command.argv[0], prepared.environment);
  if (prepared.program.empty())
    return make_error(ErrorCode::not_found,
                      "cannot run '" + command.argv[0] + "': there is no such program on PATH");
  for (const auto& argument : command.argv) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  for (const auto& entry : prepared.environment) prepared.envp.push_back(const_cast<char*>(entry.c_str()));
  prepared.envp.push_back(nullptr);
  if (!command.directory.empty()) prepared.directory = command.directory.c_str();
  prepared.keep = files.inherit;
  return prepared;
}

// Closes first..last; on kernels before 5.9 one by one.
void close_between(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  const long limit = ::sysconf(_SC_OPEN_MAX);
  const unsigned end = std::min(last, limit > 0 ? static_cast<unsigned>(limit) - 1 : 65535U);
  for (unsigned fd = first; fd <= end; ++fd) ::close(static_cast<int>(fd));
}

void close_all_but(const std::vector<int>& sorted_keep) {
  unsigned first = 3;
  for (const int fd : sorted_keep) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > first) close_between(first, static_cast<unsigned>(fd) - 1);
    first = static_cast<unsigned>(fd) + 1;
  }
  close_between(first, ~0U);
}

void default_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void give_up(int report, Stage stage) {
  const Failure failure{stage, errno};
  (void)!::write(report, &failure, sizeof failure);
  ::_exit(127);
}

[[noreturn]] void become(const Prepared& prepared, const LaunchFiles& files, int report) {
  default_signals();
  if (::setsid() < 0) give_up(report, Stage::session);
  if (::dup2(files.in, 0) < 0 || ::dup2(files.out, 1) < 0 || ::dup2(files.err, 2) < 0)
    give_up(report, Stage::files);
  close_all_but(prepared.keep);
  for (const int fd : files.inherit)
    if (::fcntl(fd, F_SETFD, 0) < 0) give_up(report, Stage::files);
  if (prepared.directory != nullptr && ::chdir(prepared.directory) != 0) give_up(report, Stage::directory);
  ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
  give_up(report, Stage::exec);
}

Error explain(const model::Command& command, const Failure& failure) {
  switch (failure.stage) {
    case Stage::directory:
      return errno_error("cannot run '" + command.argv[0] + "' in '" + command.directory + "'",
                         failure.error);
    case Stage::exec: {
      Error error = errno_error("cannot run '" + command.argv[0] + "'", failure.error);
      if (failure.error == ENOENT) error.code = ErrorCode::not_found;
      return error;
    }
    case Stage::session:
    case Stage::files:
      break;
  }
  return errno_error("cannot set up the process of '" + command.argv[0] + "'", failure.error);
}

// A descriptor above 2, so that dup2 onto 0, 1 and 2 overwrites none that is still needed.
Result<OwnedFd> above_standard(int fd) {
  OwnedFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (copy.get() < 0) return errno_error("cannot copy a file descriptor", errno);
  return copy;
}

pid_t fork_into(const Prepared& prepared, const LaunchFiles& files, int report) {
  // Our handlers must not run in the child before it has put the defaults back.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(prepared, files, report);
  const int saved = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = saved;
  return pid;
}

}  // namespace

void OwnedFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<pid_t> launch(const model::Command& command, const LaunchFiles& files) {
  PILOT_TRY(Prepared prepared, prepare(command, files));
  PILOT_TRY(const OwnedFd in, above_standard(files.in));
  PILOT_TRY(const OwnedFd out, above_standard(files.out));
  PILOT_TRY(const OwnedFd err, above_standard(files.err));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  const OwnedFd reader(ends[0]);
  OwnedFd pipe_writer(ends[1]);
  PILOT_TRY(OwnedFd writer, above_standard(pipe_writer.get()));
  pipe_writer.reset();
  prepared.keep.push_back(writer.get());
  std::sort(prepared.keep.begin(), prepared.keep.end());

  const pid_t pid = fork_into(prepared, {in.get(), out.get(), err.get(), files.inherit}, writer.get());
  if (pid < 0) return errno_error("cannot start '" + command.argv[0] + "'", errno);
  writer.reset();
  Failure failure{};
  ssize_t count;
  do count = ::read(reader.get(), &failure, sizeof failure);
  while (count < 0 && errno == EINTR);
  if (count != sizeof failure) return pid;  // closed by exec
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return explain(command, failure);
}

}  // namespace pilot::proc
