#include "adaptors/batch/pbs/job_states.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ctime>
#include <optional>
#include <set>

#include "pilot/base/units.hpp"
#include "pilot/model/host_list.hpp"

namespace pilot::adaptors::pbs {
namespace {

using host::ExitCause;
using model::AllocationPhase;

std::string attribute(const Attributes& job, const std::string& name) {
  const auto found = job.find(name);
  return found == job.end() ? std::string() : found->second;
}

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// "Sun Nov 29 15:09:27 2026", UTC.
std::optional<WallTime> time_of(const std::string& text) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%a %b %e %H:%M:%S %Y", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return unix_time(timegm(&parts));
}

struct State {
  char letter;
  AllocationPhase phase;
  std::string_view meaning;
};

// qstat(1B).  C is Torque's word for F; B is a job array.
constexpr std::array states{
    State{'Q', AllocationPhase::pending, "queued"},
    State{'H', AllocationPhase::pending, "held; 'qrls' lets it go"},
    State{'W', AllocationPhase::pending, "waits for its start time"},
    State{'T', AllocationPhase::pending, "on its way to another server"},
    State{'R', AllocationPhase::running, "running"},
    State{'B', AllocationPhase::running, "running"},
    State{'S', AllocationPhase::suspended, "suspended"},
    State{'U', AllocationPhase::suspended, "suspended"},
    State{'E', AllocationPhase::running, "ending"},
    State{'F', AllocationPhase::ended, "finished"},
    State{'X', AllocationPhase::ended, "finished"},
    State{'C', AllocationPhase::ended, "finished"},
};

struct Killed {
  int exit_status;
  ExitCause cause;
  std::string_view meaning;
};

// Exit_status below zero: pbs_job.h, JOB_EXEC_*.
constexpr std::array killed{
    Killed{-29, ExitCause::time_limit, "its time is over"},
    Killed{-28, ExitCause::time_limit, "its processor time is over"},
    Killed{-27, ExitCause::out_of_memory, "more memory than was asked for"},
    Killed{-26, ExitCause::out_of_memory, "more virtual memory than was asked for"},
    Killed{-20, ExitCause::node_failure, "a node was lost"},
};

void describe_end(host::JobStatus& status, const Attributes& job) {
  constexpr int by_signal = 128;
  constexpr int by_mom = 256;
  const auto exit_status = number(attribute(job, "Exit_status"));
  const bool deleted = attribute(job, "substate") == "91";
  status.cause = deleted ? ExitCause::cancelled : ExitCause::none;
  const std::string comment = attribute(job, "comment");  // "Job run at ... on (...) and terminated by u@h"
  if (const auto end = comment.rfind(") and "); end != std::string::npos)
    status.reason += ", " + comment.substr(end + 6);
  if (!exit_status) return;
  for (const Killed& known : killed) {
    if (known.exit_status != *exit_status) continue;
    status.cause = known.cause;
    status.reason += fmt::format(", {}", known.meaning);
  }
  if (*exit_status >= by_signal) {
    const int base = *exit_status >= by_mom ? by_mom : by_signal;
    status.reason += fmt::format(", signal {}{}", *exit_status - base, base == by_mom ? " from PBS" : "");
  }
  status.reason += fmt::format(", Exit_status {}", *exit_status);
  if (status.cause == ExitCause::none)
    status.cause = *exit_status == 0 ? ExitCause::completed : ExitCause::failed;
}

}  // namespace

std::vector<Attributes> parse_qstat(std::string_view text) {
  constexpr std::string_view id = "Job Id: ";
  std::vector<Attributes> jobs;
  std::string* value = nullptr;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(id)) {
      jobs.push_back({{"", std::string(line.substr(id.size()))}});
      value = nullptr;
    } else if (line.starts_with('\t')) {
      if (value != nullptr) *value += line.substr(1);
    } else if (const auto equals = line.find(" = "); equals != std::string_view::npos && !jobs.empty()) {
      const std::string_view name = line.substr(0, equals);
      const auto start = std::min(name.find_first_not_of(' '), name.size());
      const auto [place, is_new] =
          jobs.back().try_emplace(std::string(name.substr(start)), line.substr(equals + 3));
      value = is_new ? &place->second : nullptr;
    }
  }
  return jobs;
}

std::string hosts_of(std::string_view exec_host) {
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  while (!exec_host.empty()) {
    const auto end = std::min(exec_host.find('+'), exec_host.size());
    std::string name(exec_host.substr(0, std::min(exec_host.find('/'), end)));
    exec_host.remove_prefix(std::min(end + 1, exec_host.size()));
    if (!name.empty() && seen.insert(name).second) hosts.push_back(std::move(name));
  }
  return model::compress_hosts(hosts);
}

host::JobStatus job_status(const Attributes& job) {
  host::JobStatus status;
  status.job_id = attribute(job, "");
  const std::string letter = attribute(job, "job_state");
  const std::string comment = attribute(job, "comment");
  status.reason = letter;
  for (const State& state : states) {
    if (letter != std::string(1, state.letter)) continue;
    status.phase = state.phase;
    status.reason += fmt::format(", {}", state.meaning);
    status.ending = state.letter == 'E';
  }
  status.hosts = hosts_of(attribute(job, "exec_host"));
  const auto started = time_of(attribute(job, "stime"));
  if (status.phase == AllocationPhase::pending) {
    status.settled = !comment.empty() || letter != "Q";
    if (!comment.empty()) status.reason += ": " + comment;
    status.can_never_run = comment.starts_with("Can Never Run");
    status.starts_at = time_of(attribute(job, "estimated.start_time"));
  } else if (status.phase == AllocationPhase::running && started) {
    const auto limit = parse_duration(attribute(job, "Resource_List.walltime"));
    if (limit.has_value()) status.ends_at = *started + limit.value();
  } else if (status.phase == AllocationPhase::ended) {
    describe_end(status, job);
    status.ends_at = time_of(attribute(job, "obittime"));
  }
  return status;
}

}  // namespace pilot::adaptors::pbs
