#include "pilot/store/event_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "pilot/base/file.hpp"
#include "pilot/base/log.hpp"
#include "pilot/codec/codec.hpp"

namespace pilot::store {
namespace {

// A snapshot takes the longer the larger the pilot is, and so is written less often then.
std::uint64_t events_between_snapshots(const model::PilotState& state) {
  return std::max<std::uint64_t>(1000, state.processes.size());
}

std::filesystem::path log_path(const std::filesystem::path& folder) {
  return folder / "events.jsonl";
}
std::filesystem::path snapshot_path(const std::filesystem::path& folder) {
  return folder / "snapshot.json";
}

Result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("cannot write the event log", errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return ok();
}

// The lock ends with the process, also on NFS.  It is on a file of its own, because POSIX drops a process's
// locks on a file when it closes any descriptor of it, and reading the log opens and closes the log.
Result<void> take_lock(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd, F_SETLK, &lock) == 0) return ok();
  const int why = errno;
  if (why != EACCES && why != EAGAIN) return errno_error("cannot lock the event log", why);
  lock.l_type = F_WRLCK;
  const bool known = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  return make_error(ErrorCode::unavailable,
                    known && lock.l_pid > 0  // 0: on another machine
                        ? fmt::format("process {} writes this pilot's event log already", lock.l_pid)
                        : std::string("another process writes this pilot's event log already"));
}

}  // namespace

Result<LogContent> read_event_log(const std::filesystem::path& path, std::uint64_t from_byte) {
  PILOT_TRY(const std::string text, read_file(path));
  LogContent content;
  content.complete_bytes = std::min<std::uint64_t>(from_byte, text.size());
  int line = 0;
  for (auto begin = content.complete_bytes; begin < text.size(); begin = content.complete_bytes) {
    ++line;
    const auto end = text.find('\n', begin);
    if (end == std::string::npos) {
      content.torn = true;
      break;
    }
    auto event = codec::decode_event(std::string_view(text).substr(begin, end - begin));
    if (!event)
      return event.error().while_doing(
          fmt::format("{}, line {} after byte {}", path.string(), line, from_byte));
    content.events.push_back(std::move(event).value());
    content.complete_bytes = end + 1;
  }
  return content;
}

Result<model::PilotState> load_state(const std::filesystem::path& folder) {
  PILOT_TRY(const LogContent content, read_event_log(log_path(folder)));
  model::PilotState state;
  if (auto text = read_file(snapshot_path(folder))) {
    // A snapshot is only a shortcut: one that can't be read, or runs ahead of the log, is left aside.
    auto snapshot = codec::decode_state(text.value());
    if (snapshot && !content.events.empty() &&
        snapshot.value().last_sequence <= content.events.back().sequence)
      state = std::move(snapshot).value();
    else
      log::info("the snapshot in {} is not used", folder.string());
  }
  for (const model::Event& event : content.events)
    if (event.sequence > state.last_sequence) model::apply(state, event);
  return state;
}

EventLog::EventLog(std::filesystem::path folder, const Clock& clock)
    : folder_(std::move(folder)), clock_(&clock) {}

EventLog::EventLog(EventLog&& other) noexcept
    : folder_(std::move(other.folder_)),
      clock_(other.clock_),
      fd_(std::exchange(other.fd_, -1)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      state_(std::move(other.state_)),
      snapshot_at_(other.snapshot_at_),
      bytes_(other.bytes_) {}

EventLog& EventLog::operator=(EventLog&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(clock_, other.clock_);
  std::swap(fd_, other.fd_);
  std::swap(lock_fd_, other.lock_fd_);
  std::swap(state_, other.state_);
  std::swap(snapshot_at_, other.snapshot_at_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

EventLog::~EventLog() {
  if (fd_ >= 0) ::close(fd_);
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<EventLog> EventLog::open(const std::filesystem::path& folder, const Clock& clock) {
  const auto path = log_path(folder);
  const auto lock_path = folder / "events.lock";
  EventLog log(folder, clock);
  log.lock_fd_ = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (log.lock_fd_ < 0) return errno_error("cannot open " + lock_path.string(), errno);
  PILOT_TRY_VOID(take_lock(log.lock_fd_));
  log.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log.fd_ < 0) return errno_error("cannot open " + path.string(), errno);
  PILOT_TRY(const LogContent content, read_event_log(path));
  if (content.torn) {
    // The crash of a writer left a part of a line: it was never acknowledged, so it never happened.
    log::warning("{} ends with a part of an event; cutting it off", path.string());
    if (::ftruncate(log.fd_, static_cast<off_t>(content.complete_bytes)) != 0)
      return errno_error("cannot repair " + path.string(), errno);
  }
  log.bytes_ = content.complete_bytes;
  PILOT_TRY(log.state_, load_state(folder));
  log.snapshot_at_ = log.state_.last_sequence;
  return log;
}

Result<void> EventLog::append(model::EventBody body) {
  std::vector<model::EventBody> bodies;
  bodies.push_back(std::move(body));
  return append(std::move(bodies));
}

Result<void> EventLog::append(std::vector<model::EventBody> bodies) {
  if (bodies.empty()) return ok();
  const off_t before = ::lseek(fd_, 0, SEEK_END);
  if (before >= 0 && static_cast<std::uint64_t>(before) != bytes_)
    return make_error(ErrorCode::unavailable,
                      fmt::format("another process has written {}", log_path(folder_).string()));
  std::string text;
  std::vector<model::Event> events;
  for (auto& body : bodies) {
    const std::uint64_t sequence = state_.last_sequence + events.size() + 1;
    events.push_back({sequence, clock_->wall(), std::move(body)});
    text += codec::encode(events.back()) + "\n";
  }
  auto written = write_all(fd_, text);
  if (written && ::fdatasync(fd_) != 0) written = errno_error("cannot sync the event log", errno);
  if (!written) {
    // What was not written whole must not stand half in front of the next event.
    if (before < 0 || ::ftruncate(fd_, before) != 0)
      log::error("the event log may end with a part of an event");
    return written.error().while_doing((folder_ / "events.jsonl").string());
  }
  bytes_ += text.size();
  for (const model::Event& event : events) model::apply(state_, event);
  if (state_.last_sequence - snapshot_at_ >= events_between_snapshots(state_)) return write_snapshot();
  return ok();
}

Result<void> EventLog::write_snapshot() {
  PILOT_TRY_VOID(write_file(snapshot_path(folder_), codec::encode(state_), 0600));
  snapshot_at_ = state_.last_sequence;
  return ok();
}

}  // namespace pilot::store
