// pilot doctor
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "pilot/base/file.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/core/java.hpp"
#include "pilot/core/programs.hpp"
#include "pilot/core/software.hpp"
#include "pilot/net/ports.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::cli {
namespace {

namespace fs = std::filesystem;

struct Finding {
  std::string what, state, detail;  // state: ok, warning, failed
};

Finding look_at_folder(const std::string& what, fs::path folder) {
  while (!fs::exists(folder) && folder.has_parent_path() && folder != folder.parent_path())
    folder = folder.parent_path();
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return {what, "failed", fmt::format("'{}' can't be written to", folder.string())};
  struct statvfs space = {};
  if (statvfs(folder.c_str(), &space) != 0)
    return {what, "warning", fmt::format("no answer from '{}'", folder.string())};
  const Bytes free{std::uint64_t{space.f_bavail} * space.f_frsize};
  const std::string detail = fmt::format("{}: {} free", folder.string(), format_bytes(free));
  return {what, free < Bytes{std::uint64_t{1} << 30} ? "warning" : "ok", detail};
}

Finding look_at_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const std::string most = limit.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_max);
  return {"open files", limit.rlim_max != RLIM_INFINITY && limit.rlim_max < 4096 ? "warning" : "ok",
          fmt::format("{} now, {} at most", limit.rlim_cur, most)};
}

Finding look_at_java() {
  const auto java = core::find_java();
  if (!java.has_value()) return {"java", "failed", java.error().text()};
  return {
      "java", "ok",
      fmt::format("{} from {}: {}", java.value().text, java.value().origin, java.value().program.string())};
}

Finding look_at_ports(const std::string& address) {
  const model::NetworkSpec network;
  const auto ports = net::find_free_ports(address, network.first_port, network.last_port, 8, "doctor");
  const std::string what = "ports on " + address;
  if (!ports.has_value()) return {what, "failed", ports.error().text()};
  return {what, "ok", fmt::format("free ones in {}-{}", network.first_port, network.last_port)};
}

std::vector<Finding> examine(const Session& session) {
  std::vector<Finding> findings;
  for (const char* name : {"pilot-agent", "miniapp"}) {
    const auto program = core::find_program(name);
    const bool needed = std::string_view(name) == "pilot-agent";
    findings.push_back({name,
                        program.has_value() ? "ok"
                        : needed            ? "failed"
                                            : "warning",
                        program.has_value() ? program.value().string() : program.error().text()});
  }
  findings.push_back(look_at_java());
  for (const plugin::FrameworkAdaptor* adaptor : session.registry.frameworks()) {
    const auto software = core::locate_software(*adaptor);
    findings.push_back({std::string(adaptor->name()), software.has_value() ? "ok" : "warning",
                        software.has_value() ? fmt::format("{} in {}", software.value().version,
                                                           software.value().home.string())
                                             : software.error().text()});
  }
  for (const plugin::BatchAdaptor* batch : session.registry.batches())
    findings.push_back({fmt::format("resource {}", batch->name()), "ok", std::string(batch->summary())});
  findings.push_back(look_at_folder("folder of pilots", store::pilot_home()));
  findings.push_back(look_at_folder("scratch", fs::temp_directory_path()));
  findings.push_back(look_at_files());
  findings.push_back(look_at_ports("127.0.0.1"));
  findings.push_back(look_at_ports("127.77.0.1"));
  return findings;
}

Result<int> run_doctor(Session& session) {
  const auto findings = examine(session);
  bool failed = false;
  Table table({"CHECK", "STATE", "DETAIL"});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    failed = failed || finding.state == "failed";
    table.add({finding.what, finding.state, finding.detail});
    list.push_back({{"check", finding.what}, {"state", finding.state}, {"detail", finding.detail}});
  }
  if (session.json) {
    print(nlohmann::ordered_json{{"schema", "pilot.doctor/1"}, {"checks", std::move(list)}}.dump(2) + "\n");
  } else {
    print(table.text(true, session.colour_on_stdout()));
  }
  return failed ? 1 : 0;
}

}  // namespace

Command doctor_command(Session& session) {
  Command command{"doctor", "Check what pilots need on this machine"};
  command.description = "The exit code is 1 when something is missing without which no pilot starts.";
  command.examples = {"pilot doctor"};
  command.run = [&session] { return run_doctor(session); };
  return command;
}

}  // namespace pilot::cli
