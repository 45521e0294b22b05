#include "miniapps/processors/process_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>

#include "pilot/base/log.hpp"

namespace miniapps::processors {

using pilot::ErrorCode;
using pilot::Result;

namespace {

// False when nobody reads any more.
bool write_line(int fd, const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t put = ::write(fd, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

ErrorCode code_of_exit(int status) {
  for (auto code : {ErrorCode::usage, ErrorCode::not_found, ErrorCode::timed_out, ErrorCode::unavailable,
                    ErrorCode::partial, ErrorCode::internal})
    if (pilot::exit_code(code) == status) return code;
  return ErrorCode::failed;
}

}  // namespace

ProcessGroup::ProcessGroup(Options options, Child child) : options_(options), child_(std::move(child)) {}

ProcessGroup::~ProcessGroup() {
  for (auto& member : members_) {
    ::kill(member.pid, SIGKILL);
    int status;
    while (::waitpid(member.pid, &status, 0) < 0 && errno == EINTR) {
    }
    ::close(member.pipe);
  }
}

Result<void> ProcessGroup::start() {
  for (int i = 0; i < options_.processes; ++i) PILOT_TRY_VOID(start_member(i));
  return pilot::ok();
}

Result<void> ProcessGroup::start_member(int index) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return pilot::errno_error("cannot make a pipe", errno);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // when the command is killed, its children finish and end
    if (::getppid() != parent) ::_exit(1);
    ::close(ends[0]);
    for (const auto& sibling : members_) ::close(sibling.pipe);
    run_child(index, ends[1]);
  }
  const int saved = errno;
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return pilot::errno_error("cannot start a process", saved);
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  members_.push_back({index, pid, ends[0], {}, std::nullopt});
  return pilot::ok();
}

void ProcessGroup::run_child(int index, int pipe) const {
  ProcessReport last;
  const auto publish = [&](const ProcessReport& report) {
    last = report;
    (void)write_line(pipe, to_json(report, false) + "\n");
  };
  const auto result = child_(index, publish);
  if (!result) {
    last.error = result.error().text();
    publish(last);
  }
  // Not exit(): what the parent's objects would do at their end is the parent's business.
  ::_exit(result ? 0 : pilot::exit_code(result.error().code));
}

void ProcessGroup::wait(pilot::Duration limit) {
  std::vector<pollfd> polled;
  for (const auto& member : members_) polled.push_back({member.pipe, POLLIN, 0});
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  if (::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(ms, 0))) <= 0) return;
  // Backwards: reap() takes members out, and puts restarted ones at the end.
  for (std::size_t i = polled.size(); i-- > 0;) {
    if (polled[i].revents == 0) continue;
    read_from(members_[i]);
    if (members_[i].pipe < 0) reap(i);
  }
}

// Closes the pipe at its end.
void ProcessGroup::read_from(Member& member) {
  char buffer[65536];
  ssize_t got;
  while ((got = ::read(member.pipe, buffer, sizeof buffer)) > 0)
    member.unread.append(buffer, static_cast<std::size_t>(got));
  if (got == 0) {
    ::close(member.pipe);
    member.pipe = -1;
  }
  for (auto end = member.unread.find('\n'); end != std::string::npos; end = member.unread.find('\n')) {
    if (auto report = parse_process_report(member.unread.substr(0, end)))
      member.report = std::move(report).value();
    member.unread.erase(0, end + 1);
  }
}

void ProcessGroup::reap(std::size_t position) {
  auto member = std::move(members_[position]);
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(position));
  int status = 0;
  while (::waitpid(member.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (member.report) {
    auto& last = *member.report;
    last.in_flight = 0, last.lag = 0, last.idle_s = std::numeric_limits<double>::max();
    gone_.emplace_back(member.index, last);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status)) {
    const auto reason = member.report ? member.report->error : std::string("it said nothing");
    if (!failure_) failure_ = pilot::make_error(code_of_exit(WEXITSTATUS(status)), reason);
    return request_stop();
  }
  const auto what = fmt::format("processor process {} was killed by signal {} ({})", member.index,
                                WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  if (stopping_) return;
  if (restarts_ >= static_cast<std::uint64_t>(options_.max_restarts)) {
    if (!failure_)
      failure_ = pilot::make_error(ErrorCode::failed, what + "; it was restarted too often already");
    return request_stop();
  }
  pilot::log::warning("{}; it is restarted", what);
  ++restarts_;
  if (auto started = start_member(member.index); !started) {
    if (!failure_) failure_ = started.error();
    request_stop();
  }
}

void ProcessGroup::request_stop() {
  stopping_ = true;
  for (const auto& member : members_) ::kill(member.pid, SIGTERM);
}

Result<void> ProcessGroup::result() const {
  if (failure_) return *failure_;
  return pilot::ok();
}

ProcessReport ProcessGroup::report() const {
  ProcessReport sum;
  const ProcessReport* first = nullptr;
  bool all_reported = true;
  for (const auto& member : members_) {
    all_reported &= member.report.has_value();
    if (member.report && first == nullptr) first = &*member.report;
  }
  for (const auto& [index, report] : gone_)
    if (first == nullptr || report.started_unix_ms < first->started_unix_ms) first = &report;
  if (first == nullptr) return sum;
  sum.topic = first->topic, sum.group = first->group, sum.output = first->output;
  sum.algorithm = first->algorithm, sum.parallelism = first->parallelism, sum.processes = options_.processes;
  sum.started_unix_ms = first->started_unix_ms;
  sum.elapsed_s = first->elapsed_s;
  sum.idle_s = std::numeric_limits<double>::max();
  for (const auto& [index, report] : gone_) sum.merge(report, fmt::format("{}", index));
  for (const auto& member : members_)
    if (member.report) sum.merge(*member.report, fmt::format("{}", member.index));
  if (!all_reported || members_.empty()) sum.idle_s = 0;
  sum.restarts += restarts_;
  return sum;
}

std::vector<pid_t> ProcessGroup::pids() const {
  std::vector<pid_t> all;
  for (const auto& member : members_) all.push_back(member.pid);
  return all;
}

}  // namespace miniapps::processors
