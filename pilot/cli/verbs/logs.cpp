// pilot logs
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "pilot/base/file.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {
namespace {

namespace fs = std::filesystem;

struct LogsFlags {
  std::string name, target, lines = "50";
  bool follow = false;
};

// What has a log: the agents and the services, with the paths.
std::map<std::string, fs::path> logs_of(const core::RunningPilot& pilot) {
  const fs::path folder = pilot.folder().log_folder();
  std::map<std::string, fs::path> logs{{"head", folder / "head.log"}};
  for (const auto& [id, node] : pilot.state().nodes) logs[id] = folder / (id + ".log");
  for (int rank = 1; rank <= pilot.state().spec.nodes; ++rank) {
    const std::string node = fmt::format("node-{}", rank);
    logs[node] = folder / (node + ".log");
  }
  for (const auto& [framework, cluster] : pilot.state().clusters)
    for (const model::ServiceSpec& service : cluster.plan.services) logs[service.id] = service.log;
  return logs;
}

Result<int> list_logs(Session& session, const std::map<std::string, fs::path>& logs) {
  Table table({"LOG", "SIZE", "FILE"});
  auto list = nlohmann::ordered_json::array();
  for (const auto& [target, path] : logs) {
    std::error_code none;
    const auto size = fs::file_size(path, none);
    table.add({target, none ? "-" : format_bytes(Bytes{size}), path.string()});
    list.push_back({{"name", target}, {"bytes", none ? 0 : size}, {"file", path.string()}});
  }
  if (session.json) {
    print(nlohmann::ordered_json{{"schema", "pilot.logs/1"}, {"logs", std::move(list)}}.dump(2) + "\n");
    return 0;
  }
  print(table.text(true, session.colour_on_stdout()));
  return 0;
}

// Prints what is appended, from `offset` on, until a signal comes.  A file that became shorter was begun
// again.
int follow_file(const fs::path& path, off_t offset) {
  while (signal_received() == 0) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      if (lseek(fd, 0, SEEK_END) < offset) offset = 0;
      std::array<char, 65536> buffer;
      for (ssize_t count; (count = pread(fd, buffer.data(), buffer.size(), offset)) > 0; offset += count)
        print(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
      close(fd);
      std::fflush(stdout);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return 128 + signal_received();
}

Result<int> run_logs(Session& session, const LogsFlags& flags) {
  int lines = 0;
  const char* end = flags.lines.data() + flags.lines.size();
  if (std::from_chars(flags.lines.data(), end, lines).ptr != end || lines < 0)
    return make_error(ErrorCode::usage, fmt::format("--lines must be a number, not '{}'", flags.lines));
  PILOT_TRY(const std::string name, pilot_name(flags.name));
  core::Observer nobody;
  PILOT_TRY(const core::RunningPilot pilot, core::RunningPilot::open(session.context(nobody), name));
  const auto logs = logs_of(pilot);
  if (flags.target.empty()) return list_logs(session, logs);
  const auto found = logs.find(flags.target);
  if (found == logs.end()) {
    std::vector<std::string> targets;
    for (const auto& [target, path] : logs) targets.push_back(target);
    return make_error(ErrorCode::not_found, fmt::format("pilot '{}' has no log '{}'", name, flags.target),
                      suggestion(flags.target, targets));
  }
  std::error_code none;
  const auto size = fs::file_size(found->second, none);
  if (none && !flags.follow)
    return make_error(ErrorCode::not_found, fmt::format("{} has written no log yet", flags.target),
                      found->second.string());
  std::string tail = tail_of_file(found->second, lines);
  if (!tail.empty() && tail.back() != '\n' && !flags.follow) tail += '\n';
  print(tail);
  return flags.follow ? follow_file(found->second, none ? 0 : static_cast<off_t>(size)) : 0;
}

}  // namespace

Command logs_command(Session& session) {
  auto flags = std::make_shared<LogsFlags>();
  Command command{"logs", "Print the log of a service or an agent"};
  command.description = "Without WHAT it lists the logs that there are.";
  command.examples = {"pilot logs demo kafka/broker-2 -f", "pilot logs demo head -n 200", "pilot logs demo"};
  command.arguments = {pilot_argument(flags->name, false),
                       {"WHAT", "a service (kafka/broker-2), 'head', or a node (node-1)", &flags->target}};
  command.options = {{"-f,--follow", "", "go on with what is written, until Ctrl-C", &flags->follow},
                     {"-n,--lines", "N", "the last N lines [50]", &flags->lines}};
  command.run = [&session, flags] { return run_logs(session, *flags); };
  return command;
}

}  // namespace pilot::cli
