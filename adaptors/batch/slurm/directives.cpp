#include "adaptors/batch/slurm/directives.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "adaptors/batch/host/shell_text.hpp"

namespace pilot::adaptors::slurm {
namespace {

using host::option;
using plugin::AllocationRequest;

constexpr auto signal_lead = std::chrono::seconds(60);  // which may come a minute earlier still

// Options of the spec that become a directive of the same meaning.
struct PlainOption {
  std::string_view name;       // batch.NAME
  std::string_view directive;  // --DIRECTIVE=value
  std::string_view help;
};
constexpr std::array plain_options{
    PlainOption{"queue", "partition", "partition; 'sinfo' lists them"},
    PlainOption{"account", "account", "account that is charged"},
    PlainOption{"qos", "qos", "quality of service"},
    PlainOption{"constraint", "constraint", "features that nodes must have: haswell&ssd"},
    PlainOption{"gres", "gres", "generic resources of each node: gpu:2"},
    PlainOption{"gpus", "gpus-per-node", "GPUs of each node"},
    PlainOption{"mem", "mem", "memory of each node, instead of node.memory: 64G, 0 for all"},
    PlainOption{"reservation", "reservation", "reservation to run in"},
    PlainOption{"mail", "mail-user", "address that is told when the job begins, ends and fails"},
};
// All that `skip` may name, beside those.
constexpr std::array own_directives{"job-name",  "comment", "nodes",     "ntasks-per-node", "cpus-per-task",
                                    "exclusive", "time",    "no-kill",   "no-requeue",      "signal",
                                    "export",    "output",  "open-mode", "mail-type"};

// sbatch would take %j and the like in the name of a file for its own.
std::string without_patterns(std::string path) {
  for (auto at = path.find('%'); at != std::string::npos; at = path.find('%', at + 2))
    path.insert(at, 1, '%');
  return path;
}

std::string whole_minutes(Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::minutes>(time).count());
}

// Whole nodes, unless a part of one was asked for.
bool is_exclusive(const model::PilotSpec& spec) {
  const std::string wish = option(spec, "exclusive");
  return wish.empty() ? spec.cores_per_node == 0 && spec.memory_per_node.count == 0 : wish == "true";
}

std::string memory(const model::PilotSpec& spec) {
  constexpr std::uint64_t mebi = 1 << 20;
  if (spec.memory_per_node.count > 0)
    return fmt::format("{}M", (spec.memory_per_node.count + mebi - 1) / mebi);
  return is_exclusive(spec) ? "0" : "";
}

}  // namespace

std::string job_name(const AllocationRequest& request) {
  return "pilot-" + request.spec.name;
}

std::string comment(const AllocationRequest& request) {
  return fmt::format("pilot {} {}", request.pilot_id, request.allocation);
}

std::string sbatch_word(std::string_view text) {
  if (host::shell_word(text) == text) return std::string(text);
  std::string word = "\"";  // within "", only \ and " are special to sbatch, and not even $ and #
  for (const char c : text) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + "\"";
}

std::vector<plugin::OptionDoc> directive_options() {
  std::vector<plugin::OptionDoc> all;
  for (const PlainOption& plain : plain_options)
    all.push_back({std::string(plain.name), "", std::string(plain.help)});
  all.push_back(
      {"exclusive", "", "whole nodes: true or false; by default unless node.cores or .memory is set"});
  return all;
}

Result<void> check_directives(const model::PilotSpec& spec) {
  std::vector<std::string_view> names(own_directives.begin(), own_directives.end());
  for (const PlainOption& plain : plain_options) names.push_back(plain.directive);
  PILOT_TRY_VOID(host::check_script_options(spec, names));
  if (const auto wish = option(spec, "exclusive"); !wish.empty() && wish != "true" && wish != "false")
    return make_error(ErrorCode::usage, fmt::format("batch.exclusive must be true or false, not '{}'", wish));
  return ok();
}

std::string overruling_variable(const std::string& tool, const std::string& setting) {
  if (setting == "time") return tool + "_TIMELIMIT";
  if (setting == "mem") return tool + "_MEM_PER_NODE";
  std::string name = tool + "_" + setting;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::vector<host::Directive> directives_of(const AllocationRequest& request) {
  std::vector<host::Directive> all;
  for (const Setting& setting : settings_of(request)) {
    const std::string given = setting.value.empty() ? "" : "=" + sbatch_word(setting.value);
    all.push_back({setting.name, fmt::format("#SBATCH --{}{}", setting.name, given)});
  }
  return all;
}

std::vector<Setting> settings_of(const AllocationRequest& request) {
  const model::PilotSpec& spec = request.spec;
  std::vector<Setting> all;
  const auto add = [&all](std::string_view name, std::string_view value = {}) {
    all.push_back({std::string(name), std::string(value)});
  };
  add("job-name", job_name(request));
  add("comment", comment(request));
  add("nodes", std::to_string(request.nodes));
  add("ntasks-per-node", "1");
  if (spec.cores_per_node > 0) add("cpus-per-task", std::to_string(spec.cores_per_node));
  if (is_exclusive(spec)) add("exclusive");
  if (option(spec, "mem").empty() && !memory(spec).empty()) add("mem", memory(spec));
  if (spec.walltime) add("time", whole_minutes(*spec.walltime));
  for (const PlainOption& plain : plain_options)
    if (const auto value = option(spec, std::string(plain.name)); !value.empty()) add(plain.directive, value);
  if (!option(spec, "mail").empty()) add("mail-type", "BEGIN,END,FAIL");
  add("no-kill");
  add("no-requeue");
  // Else the script's own clock is better: an extension shall have been given back before its agent is told.
  if (!spec.walltime) add("signal", fmt::format("B:USR1@{}", signal_lead.count()));
  add("export", "ALL");
  add("output", without_patterns(host::output_file(request).string()));
  add("open-mode", "append");
  return all;
}

}  // namespace pilot::adaptors::slurm
