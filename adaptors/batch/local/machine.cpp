#include "adaptors/batch/local/machine.hpp"

#include <pwd.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "pilot/base/file.hpp"

namespace pilot::adaptors::local {
namespace {

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value != nullptr && *value != '\0') return value;
  return name == "TMPDIR" ? "/tmp" : "";
}

}  // namespace

Machine this_machine() {
  Machine machine;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) machine.cores = std::max(1, CPU_COUNT(&allowed));
  machine.memory.count = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  if (const auto limit = read_file("/sys/fs/cgroup/memory.max"); limit.has_value()) {
    std::uint64_t bytes = 0;
    const std::string& text = limit.value();
    if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec == std::errc{})
      machine.memory.count = std::min(machine.memory.count, bytes);
  }
  return machine;
}

NodeShare share_of(const Machine& machine, const model::PilotSpec& spec) {
  NodeShare share{spec.cores_per_node, spec.memory_per_node};
  if (share.cores == 0) share.cores = std::max(1, machine.cores / spec.nodes);
  if (share.memory.count == 0)
    share.memory.count = machine.memory.count / static_cast<std::uint64_t>(spec.nodes);
  return share;
}

std::string expand(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  if (text == "~" || text.starts_with("~/")) {
    out = home_directory().string();
    at = 1;
  }
  while (at < text.size()) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    const bool braces = at + 1 < text.size() && text[at + 1] == '{';
    std::size_t end = at + (braces ? 2 : 1);
    const std::size_t start = end;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    out += variable(text.substr(start, end - start));
    at = braces && end < text.size() && text[end] == '}' ? end + 1 : end;
  }
  return out;
}

std::string scratch_root(const model::PilotSpec& spec, const std::string& pilot_id) {
  const std::string above = expand(spec.scratch.empty() ? "$TMPDIR" : spec.scratch);
  const std::string name = "pilot-" + user_name() + "-" + pilot_id.substr(0, 12);
  return (std::filesystem::absolute(above) / name).string();
}

}  // namespace pilot::adaptors::local
