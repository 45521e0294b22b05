#include "pilot/proc/identity.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <memory>
#include <sstream>
#include <string_view>

#include "pilot/proc/pidfd.hpp"
#include "pilot/proc/proc_stat.hpp"

namespace pilot::proc {

namespace {

std::string read_proc_file(const std::string& path) {
  std::string content;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return content;
  char buffer[4096];
  for (ssize_t count; (count = ::read(fd, buffer, sizeof buffer)) > 0;) content.append(buffer, count);
  ::close(fd);
  return content;
}

bool has_variables(std::string_view environment, const std::map<std::string, std::string>& variables) {
  std::size_t found = 0;
  while (!environment.empty()) {
    const auto entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(environment.size(), entry.size() + 1));
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const auto wanted = variables.find(std::string(entry.substr(0, equals)));
    if (wanted != variables.end() && wanted->second == entry.substr(equals + 1)) ++found;
  }
  return found >= variables.size();
}

// The same number and start time, a zombie included: its number can't be given away before it is reaped.
bool is_same(const model::ProcessIdentity& process) {
  if (!process || process.boot_id != boot_id()) return false;
  const auto stat = read_proc_stat(process.pid);
  return stat && stat->start_ticks == process.start_ticks;
}

}  // namespace

const std::string& boot_id() {
  static const std::string id = [] {
    std::string text = read_proc_file("/proc/sys/kernel/random/boot_id");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }();
  return id;
}

std::optional<ProcStat> read_proc_stat(pid_t pid) {
  const std::string text = read_proc_file("/proc/" + std::to_string(pid) + "/stat");
  // The second field is the program's name in parentheses and may hold anything.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcStat stat;
  fields >> stat.state;  // field 3
  std::string skipped;
  for (int field = 4; field < 20; ++field) fields >> skipped;
  fields >> stat.threads >> skipped >> stat.start_ticks;  // fields 20, 21, 22
  if (!fields) return std::nullopt;
  return stat;
}

std::optional<model::ProcessIdentity> identify(pid_t pid) {
  if (pid <= 0) return std::nullopt;
  const auto stat = read_proc_stat(pid);
  if (!stat || !stat->runs()) return std::nullopt;
  return model::ProcessIdentity{pid, stat->start_ticks, boot_id()};
}

bool is_alive(const model::ProcessIdentity& process) {
  if (!process || process.boot_id != boot_id()) return false;
  const auto stat = read_proc_stat(process.pid);
  return stat && stat->start_ticks == process.start_ticks && stat->runs();
}

bool send_signal(const model::ProcessIdentity& process, int signal) {
  // With a pidfd the process that was looked at is the one that gets the signal.
  const Pidfd pidfd(process.pid);
  if (!is_alive(process)) return false;
  if (pidfd.valid()) return pidfd.send(signal);
  return ::kill(process.pid, signal) == 0;
}

bool send_signal_to_group(const model::ProcessIdentity& leader, int signal) {
  return is_same(leader) && ::kill(-leader.pid, signal) == 0;
}

std::vector<model::ProcessIdentity> processes_with_environment(
    const std::map<std::string, std::string>& variables) {
  std::vector<model::ProcessIdentity> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc || variables.empty()) return found;
  while (const dirent* entry = ::readdir(proc.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.begin(), name.end(), pid);
    if (parsed.ec != std::errc{} || parsed.ptr != name.end() || pid == ::getpid()) continue;
    const std::string folder = "/proc/" + std::string(name);
    struct stat owner {};
    if (::stat(folder.c_str(), &owner) != 0 || owner.st_uid != ::geteuid()) continue;
    const auto process = identify(pid);
    if (!process || !has_variables(read_proc_file(folder + "/environ"), variables)) continue;
    if (is_alive(*process)) found.push_back(*process);
  }
  return found;
}

}  // namespace pilot::proc
