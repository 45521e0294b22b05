#include "adaptors/batch/pbs/directives.hpp"

#include <fmt/format.h>

#include <array>

namespace pilot::adaptors::pbs {
namespace {

using host::option;
using plugin::AllocationRequest;

// Options of the spec that become a directive of the same meaning.
struct PlainOption {
  std::string_view name;       // batch.NAME
  std::string_view directive;  // for `skip`
  std::string_view text;       // before the value
  std::string_view help;
};
constexpr std::array plain_options{
    PlainOption{"queue", "q", "-q ", "queue; 'qstat -Q' lists them"},
    PlainOption{"account", "A", "-A ", "account that is charged"},
    PlainOption{"project", "P", "-P ", "project that is charged, where that is not the account"},
    PlainOption{"mail", "M", "-M ", "address that is told when the job begins, ends and fails"},
};
constexpr std::array own_directives{"N", "select", "place", "walltime", "r", "tolerate_node_failures",
                                    "j", "o",      "m"};

// qsub takes a value from a directive up to the next blank.
bool is_one_word(std::string_view value) {
  return value.find_first_of(" \t\"'\\#") == std::string_view::npos;
}

std::string walltime(Duration time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// One chunk is one node: "2:ncpus=4:mem=1024mb".
std::string select(const AllocationRequest& request) {
  constexpr std::uint64_t mebi = 1 << 20;
  const model::PilotSpec& spec = request.spec;
  std::string chunk = std::to_string(request.nodes);
  if (spec.cores_per_node > 0) chunk += fmt::format(":ncpus={}", spec.cores_per_node);
  if (spec.memory_per_node.count > 0)
    chunk += fmt::format(":mem={}mb", (spec.memory_per_node.count + mebi - 1) / mebi);
  if (const auto more = option(spec, "chunk"); !more.empty()) chunk += ":" + more;
  return chunk;
}

// Whole nodes, unless a part of one was asked for.
bool is_exclusive(const model::PilotSpec& spec) {
  const std::string wish = option(spec, "exclusive");
  return wish.empty() ? spec.cores_per_node == 0 && spec.memory_per_node.count == 0 : wish == "true";
}

}  // namespace

std::string job_name(const AllocationRequest& request) {
  return fmt::format("pilot-{}-{}-{}", request.spec.name, request.pilot_id.substr(0, 6), request.allocation);
}

std::vector<plugin::OptionDoc> directive_options() {
  std::vector<plugin::OptionDoc> all;
  for (const PlainOption& plain : plain_options)
    all.push_back({std::string(plain.name), "", std::string(plain.help)});
  all.push_back({"chunk", "", "more about each node, as in select: ncpus=64:ngpus=2:model=bro"});
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
  std::vector<std::string> words{"chunk"};
  for (const PlainOption& plain : plain_options) words.emplace_back(plain.name);
  for (const std::string& name : words)
    if (const auto value = option(spec, name); !is_one_word(value))
      return make_error(ErrorCode::usage,
                        fmt::format("batch.{}: PBS can't have blanks or quotes in '{}'", name, value));
  return ok();
}

std::vector<host::Directive> directives_of(const AllocationRequest& request) {
  const model::PilotSpec& spec = request.spec;
  std::vector<host::Directive> all;
  const auto add = [&all](std::string_view name, const std::string& text) {
    all.push_back({std::string(name), "#PBS " + text});
  };
  add("N", "-N " + job_name(request));
  add("select", "-l select=" + select(request));
  add("place", is_exclusive(spec) ? "-l place=scatter:excl" : "-l place=scatter");
  if (spec.walltime) add("walltime", "-l walltime=" + walltime(*spec.walltime));
  for (const PlainOption& plain : plain_options)
    if (const auto value = option(spec, std::string(plain.name)); !value.empty())
      add(plain.directive, std::string(plain.text) + value);
  if (!option(spec, "mail").empty()) add("m", "-m abe");
  add("r", "-r n");
  // Else the job ends when one node has been lost for five minutes, or as soon as it returns.
  add("tolerate_node_failures", "-W tolerate_node_failures=all");
  add("j", "-j oe");
  add("o", "-o /dev/null");  // the script writes its own: PBS would show it only after the end
  return all;
}

}  // namespace pilot::adaptors::pbs
