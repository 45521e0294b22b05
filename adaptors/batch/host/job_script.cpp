#include "adaptors/batch/host/job_script.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <sstream>

#include "adaptors/batch/host/shell_text.hpp"
#include "pilot/base/file.hpp"

namespace pilot::adaptors::host {

std::string_view job_script_body();  // job_script.sh

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string directives_of(const plugin::AllocationRequest& request, const JobScript& parts) {
  const auto skipped = skipped_directives(request.spec);
  std::string text;
  for (const Directive& directive : parts.directives)
    if (std::find(skipped.begin(), skipped.end(), directive.name) == skipped.end())
      text += directive.text + "\n";
  for (const std::string& line : lines_of(option(request.spec, "extra")))
    text += (line.starts_with('#') ? "" : parts.prefix) + line + "\n";
  return text;
}

std::string function(std::string_view name, std::string_view body) {
  return fmt::format("{}() {{\n  {}\n}}\n", name, body.empty() ? ":" : body);
}

std::string variable(std::string_view name, std::string_view value) {
  return fmt::format("{}={}\n", name, value);
}

std::int64_t whole_seconds(Duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

// Variables of one host or one job, and the script's own, as patterns of the shell.
constexpr auto of_one_host = std::to_array<std::string_view>(
    {"PBS_*", "SLURM*", "BASH*", "TMPDIR", "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "SHELLOPTS", "NCPUS", "_",
     // which accelerators are the job's
     "*_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK",
     // variables_of()
     "pilot_*", "*_wanted", "allocation", "script", "first_node", "network", "carries_environment",
     "removes_tmpdir", "writes_own_output", "warning_after", "job_id", "joins_job", "submit_host"});

bool stays_here(std::string_view name) {
  return std::any_of(of_one_host.begin(), of_one_host.end(), [&](std::string_view pattern) {
    if (pattern.back() == '*') return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return pattern.front() == '*' ? name.ends_with(pattern.substr(1)) : name == pattern;
  });
}

// `memory` is the node's memory as a folder.
std::string scratch_wanted(const std::string& scratch) {
  if (scratch.empty()) return ":";
  return "echo " + (scratch == "memory" ? "/dev/shm" : shell_path(scratch));
}

bool is_subnet(const std::string& text) {
  const auto slash = text.find('/');
  in_addr address{};
  int bits = -1;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data() + slash + 1, end, bits);
  return number.ec == std::errc{} && number.ptr == end && bits >= 0 && bits <= 32 &&
         inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) == 1;
}

// The name of an interface has up to 15 letters that a shell and a person can read.
bool is_interface(const std::string& text) {
  return text.size() <= 15 && std::ranges::all_of(text, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("_.:@-").find(c) != std::string_view::npos;
         });
}

Result<void> check_network(const std::string& network) {
  const bool good = network.find('/') == std::string::npos ? is_interface(network) : is_subnet(network);
  if (good) return ok();
  return make_error(ErrorCode::usage, fmt::format("batch.network can't be '{}'", network),
                    "an interface (ib0), a subnet (10.0.0.0/8), or auto; 'ip -4 addr' lists them");
}

}  // namespace

std::string option(const model::PilotSpec& spec, const std::string& name) {
  const auto found = spec.batch.find(name);
  return found == spec.batch.end() ? std::string() : found->second;
}

std::vector<plugin::OptionDoc> script_options() {
  return {
      {"prologue", "", "shell lines for each node before its agent starts: module load java"},
      {"network", "auto",
       "how nodes are reached: an interface (ib0), a subnet (10.1.0.0/16), or auto: the one that leads to "
       "the head's node"},
      {"extra", "", "directives for the job script, one a line, passed on as they are"},
      {"launcher", "the system's own", "what runs a command once on each node of the job: mpiexec --ppn 1"},
      {"skip", "", "directives that pilot writes and this site refuses: mem, exclusive"},
  };
}

std::vector<std::string> skipped_directives(const model::PilotSpec& spec) {
  return words_of(option(spec, "skip"));
}

std::vector<std::string> extra_words(const model::PilotSpec& spec, std::string_view prefix) {
  std::vector<std::string> all;
  for (const std::string& line : lines_of(option(spec, "extra"))) {
    const bool directive = line.starts_with(prefix);
    if (line.starts_with('#') && !directive) continue;
    std::istringstream stream(directive ? line.substr(prefix.size()) : line);
    for (std::string word; stream >> word;) all.push_back(word);
  }
  return all;
}

Result<void> check_script_options(const model::PilotSpec& spec,
                                  const std::vector<std::string_view>& directives) {
  for (const auto& [name, value] : spec.batch)
    if (name != "prologue" && name != "extra" && name != "skip" && has_control_characters(value))
      return make_error(ErrorCode::usage, fmt::format("batch.{} has control characters", name));
  if (has_control_characters(spec.scratch))
    return make_error(ErrorCode::usage, "node.scratch has control characters");
  PILOT_TRY_VOID(check_network(option(spec, "network")));
  const std::vector<std::string> known(directives.begin(), directives.end());
  for (const std::string& word : words_of(option(spec, "skip")))
    if (std::find(known.begin(), known.end(), word) == known.end())
      return make_error(ErrorCode::usage, fmt::format("batch.skip: pilot writes no directive '{}'", word),
                        fmt::format("it writes {}", fmt::join(known, ", ")));
  return ok();
}

namespace {

// An MPI's processes know their place by variables that differ; a node knows it by its name.
JobScript launched_by(const std::string& launcher, JobScript parts) {
  if (launcher.empty()) return parts;
  parts.on_each_node = launcher + " \"$@\"";
  parts.also_on_each_node = parts.on_each_node;
  parts.node_name = "\"$(hostname)\"";
  parts.rank = "\"$(listed_rank)\"";
  parts.carries_environment = true;
  return parts;
}

std::string variables_of(const plugin::AllocationRequest& request, const JobScript& parts) {
  const model::PilotSpec& spec = request.spec;
  const std::string network = option(spec, "network");
  std::string text;
  text += variable("pilot_dir", shell_word(request.pilot_dir.string()));
  text += variable("pilot_agent", shell_word(request.agent_program.string()));
  text += variable("pilot_id", shell_word(request.pilot_id));
  text += variable("allocation", shell_word(request.allocation));
  text += variable("script", shell_word(script_file(request).string()));
  text += variable("first_node", std::to_string(request.first_node));
  text += variable("nodes_wanted", std::to_string(request.nodes));
  text += variable("network", shell_word(network.empty() ? "auto" : network));
  text += variable("cores_wanted", spec.cores_per_node > 0 ? std::to_string(spec.cores_per_node) : "");
  text += variable("memory_wanted",
                   spec.memory_per_node.count > 0 ? std::to_string(spec.memory_per_node.count) : "");
  text += variable("carries_environment", parts.carries_environment ? "1" : "");
  text += variable("removes_tmpdir", parts.removes_tmpdir ? "1" : "");
  text += variable("writes_own_output", parts.writes_own_output ? "1" : "");
  text += variable("warning_after",
                   parts.warning_after ? std::to_string(whole_seconds(*parts.warning_after)) : "");
  text += variable("job_id", parts.job_id);
  if (!request.joins_job.empty()) text += variable("joins_job", shell_word(request.joins_job));
  return text + variable("submit_host", parts.submit_host);
}

std::string functions_of(const model::PilotSpec& spec, const JobScript& parts) {
  std::string text = function("list_nodes", parts.list_nodes);
  text += function("node_memory", parts.node_memory);
  text += function("node_rank", fmt::format("echo {}", parts.rank));
  text += function("node_name", fmt::format("echo {}", parts.node_name));
  text += function(
      "cores_here",
      fmt::format(
          "local cores={}\n  echo \"${{cores:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)}}\"",
          parts.cores));
  text += function("scratch_wanted", scratch_wanted(spec.scratch));
  text += function("topology_here", fmt::format("echo {}", parts.topology));
  text += function("system_scratch", fmt::format("echo {}", parts.scratch));
  text += function("on_each_node", parts.on_each_node);
  text += function("also_on_each_node", parts.also_on_each_node);
  text += function("stays_here",
                   fmt::format("case $1 in {}) ;; *) return 1 ;; esac", fmt::join(of_one_host, " | ")));
  return text + function("prologue", fmt::format(":\n{}", option(spec, "prologue")));
}

}  // namespace

std::string render_job_script(const plugin::AllocationRequest& request, const JobScript& of_system) {
  const model::PilotSpec& spec = request.spec;
  const JobScript parts = launched_by(option(spec, "launcher"), of_system);
  return fmt::format(
      "#!/bin/bash\n{}"
      "# The node agents of pilot '{}', allocation {}; written by 'pilot'.\n\n"
      "{}{}\n{}",
      directives_of(request, parts), spec.name, request.allocation, variables_of(request, parts),
      functions_of(spec, parts), job_script_body());
}

std::string environment_text(const std::vector<std::string>& entries) {
  constexpr std::string_view function_begin = "BASH_FUNC_", function_end = "%%";
  std::string text;
  for (const std::string& entry : entries) {
    const auto equals = entry.find('=');
    std::string name = entry.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : entry.substr(equals + 1);
    if (name.starts_with(function_begin) && name.ends_with(function_end)) {
      name = name.substr(function_begin.size(), name.size() - function_begin.size() - function_end.size());
      if (is_shell_name(name)) text += fmt::format("{0} {1}\nexport -f {0}\n", name, value);
    } else if (is_shell_name(name) && !stays_here(name)) {
      text += fmt::format("export {}={}\n", name, shell_word(value));
    }
  }
  return text;
}

std::filesystem::path script_file(const plugin::AllocationRequest& request) {
  return request.pilot_dir / "allocations" / (request.allocation + ".sh");
}

std::filesystem::path environment_file(const plugin::AllocationRequest& request) {
  return request.pilot_dir / "allocations" / (request.allocation + ".env");
}

std::filesystem::path nodes_file(const plugin::AllocationRequest& request) {
  return request.pilot_dir / "allocations" / (request.allocation + ".nodes");
}

std::filesystem::path exit_file(const plugin::AllocationRequest& request) {
  return request.pilot_dir / "allocations" / (request.allocation + ".exit");
}

std::filesystem::path output_file(const plugin::AllocationRequest& request) {
  return request.pilot_dir / "logs" / (request.allocation + ".log");
}

std::optional<ExitRecord> parse_exit_record(std::string_view text) {
  std::istringstream stream{std::string(text)};
  ExitRecord record;
  std::int64_t seconds = 0;
  if (!(stream >> record.job_id >> record.code >> seconds)) return std::nullopt;
  const auto at = unix_time(seconds);
  if (!at) return std::nullopt;
  record.at = *at;
  std::getline(stream >> std::ws, record.cause);
  return record;
}

std::optional<ExitRecord> read_exit_record(const plugin::AllocationRequest& request,
                                           const std::string& job_id) {
  const auto text = read_file(exit_file(request));
  if (!text.has_value()) return std::nullopt;
  auto record = parse_exit_record(text.value());
  return record && record->job_id == job_id ? record : std::nullopt;
}

}  // namespace pilot::adaptors::host
