#include "pilot/cli/spec_flags.hpp"

#include <fmt/format.h>

#include <charconv>

#include "pilot/core/programs.hpp"

namespace pilot::cli {

std::vector<Option> SpecFlags::options(bool with_file) {
  const auto none = Completes::nothing;
  const std::string group = "Options";
  std::vector<Option> options;
  if (with_file)
    options.push_back({"-f,--file",
                       "SPEC",
                       "read the spec from a YAML file; flags win over it",
                       &file_,
                       {},
                       Completes::files,
                       group});
  options.push_back(
      {"-r,--resource", "NAME", "what gives the nodes [local]", &resource_, {}, Completes::resources, group});
  options.push_back({"-N,--nodes", "N", "how many nodes [1]", &nodes_, {}, none, group});
  options.push_back({"-t,--walltime", "TIME", "how long: 2h30m, 01:30:00", &walltime_, {}, none, group});
  options.push_back({"--framework",
                     "NAME",
                     "what runs on the nodes; may be repeated",
                     &frameworks_,
                     {},
                     Completes::frameworks,
                     group});
  options.push_back({"--option",
                     "KEY=VALUE",
                     "a framework's setting: kafka.controllers=3; may be repeated",
                     &framework_options_,
                     {},
                     none,
                     group});
  for (Option& option : more_options()) options.push_back(std::move(option));
  for (Option& option : batch_flags()) options.push_back(std::move(option));
  return options;
}

// Those of sbatch, of the same meaning.
std::vector<Option> SpecFlags::batch_flags() {
  const auto none = Completes::nothing;
  const std::string group = "Batch options";
  return {
      {"--site", "NAME", "the profile of a machine: pilot config sites", &site_, {}, none, group},
      {"-p,--partition,--queue", "NAME", "the batch system's queue", &queue_, {}, none, group},
      {"-A,--account", "NAME", "what the batch system charges", &account_, {}, none, group},
      {"--qos", "NAME", "quality of service", &qos_, {}, none, group},
      {"--constraint", "LIST", "features that nodes must have: haswell&ssd", &constraint_, {}, none, group},
      {"--gres", "LIST", "generic resources of each node: gpu:2", &gres_, {}, none, group},
      {"--gpus", "N", "GPUs of each node", &gpus_, {}, none, group},
      {"--mem", "SIZE", "memory of each node to ask for, 0 for all: 64G", &mem_, {}, none, group},
      {"--exclusive", "", "whole nodes, also with --cores or --memory", &exclusive_, {}, none, group},
      {"--reservation", "NAME", "reservation to run in", &reservation_, {}, none, group},
      {"--mail", "ADDRESS", "who is told when jobs begin, end and fail", &mail_, {}, none, group},
      {"--batch",
       "KEY=VALUE",
       "any setting under batch: skip=mem, extra=--switches=1; may be repeated, also for one key",
       &batch_options_,
       {},
       none,
       group},
  };
}

// -n counts cores of all nodes together, as sbatch does without -c; a node gets its share.
Result<void> SpecFlags::add_cores(config::LayerInput& input) const {
  if (tasks_.empty()) return ok();
  int cores = 0;
  const auto end = std::from_chars(tasks_.data(), tasks_.data() + tasks_.size(), cores);
  if (end.ec != std::errc{} || end.ptr != tasks_.data() + tasks_.size() || cores < 1)
    return config::error_at("--ntasks", fmt::format("'{}' is no number of cores", tasks_),
                            "a whole number from 1");
  PILOT_TRY(const config::Value merged, config::merge_layers(input));
  PILOT_TRY(const config::LocatedSpec located, config::decode_pilot_spec(merged));
  const int nodes = located.spec.nodes;
  input.flags.push_back({{"node", "cores"}, std::to_string((cores + nodes - 1) / nodes), "--ntasks"});
  return ok();
}

Result<void> SpecFlags::add_batch_options(config::LayerInput& input) const {
  for (const std::string& option : batch_options_) {
    const auto equals = option.find('=');
    if (equals == std::string::npos || equals == 0)
      return config::error_at("--batch", fmt::format("'{}' is not of the form KEY=VALUE", option),
                              "for example skip=mem");
    const std::vector<std::string> path{"batch", option.substr(0, equals)};
    const auto before = std::ranges::find_if(input.flags, [&](const config::FlagSetting& flag) {
      return flag.path == path && flag.origin == "--batch";
    });
    if (before == input.flags.end())
      input.flags.push_back({path, option.substr(equals + 1), "--batch"});
    else
      before->text += "\n" + option.substr(equals + 1);
  }
  return ok();
}

std::vector<Option> SpecFlags::more_options() {
  const auto none = Completes::nothing;
  const std::string group = "More options";
  return {
      {"-J,--name", "NAME", "the pilot's name", &name_, {}, none, group},
      {"-n,--ntasks", "N", "cores on all nodes together, in place of --cores", &tasks_, {}, none, group},
      {"--cores", "N", "cores per node", &cores_, {}, none, group},
      {"--memory", "SIZE", "memory per node: 2G", &memory_, {}, none, group},
      {"--scratch",
       "DIR",
       "node-local folder for data [$TMPDIR or /tmp]",
       &scratch_,
       {},
       Completes::folders,
       group},
      {"--encrypt", "", "TLS between services and clients", &encrypt_, {}, none, group},
      {"--ports",
       "A-B",
       "services listen on free ports of this range [20000-29999]",
       &ports_,
       {},
       none,
       group},
      {"--subnet", "CIDR", "local: addresses of the nodes [127.77.0.0/16]", &subnet_, {}, none, group},
      {"--ready-timeout",
       "TIME",
       "a pilot that is not ready by then has failed [3m]",
       &ready_timeout_,
       {},
       none,
       group},
      {"--lost-after",
       "TIME",
       "a lost node is done without then, its data are rebuilt elsewhere [2m]",
       &lost_after_,
       {},
       none,
       group},
  };
}

Result<config::Value> SpecFlags::settings(const std::string& name,
                                          const std::optional<config::Value>& spec) const {
  config::LayerInput input;
  input.environment = config::pilot_environment();
  if (const auto sites = core::sites_folder(); !sites.empty()) input.files.profiles.push_back(sites);
  if (!file_.empty()) input.spec_file = file_;
  input.spec = spec;
  const auto add = [&](std::vector<std::string> path, const std::string& text, const char* flag) {
    if (!text.empty()) input.flags.push_back({std::move(path), text, flag});
  };
  add({"name"}, name_, "--name");
  add({"name"}, name, "NAME");
  add({"resource"}, resource_, "--resource");
  add({"site"}, site_, "--site");
  add({"nodes"}, nodes_, "--nodes");
  add({"walltime"}, walltime_, "--walltime");
  add({"batch", "queue"}, queue_, "--partition");
  add({"batch", "account"}, account_, "--account");
  add({"batch", "qos"}, qos_, "--qos");
  add({"batch", "constraint"}, constraint_, "--constraint");
  add({"batch", "gres"}, gres_, "--gres");
  add({"batch", "gpus"}, gpus_, "--gpus");
  add({"batch", "mem"}, mem_, "--mem");
  add({"batch", "exclusive"}, exclusive_ ? "true" : "", "--exclusive");
  add({"batch", "reservation"}, reservation_, "--reservation");
  add({"batch", "mail"}, mail_, "--mail");
  add({"node", "cores"}, cores_, "--cores");
  add({"node", "memory"}, memory_, "--memory");
  add({"node", "scratch"}, scratch_, "--scratch");
  add({"network", "subnet"}, subnet_, "--subnet");
  add({"network", "ports"}, ports_, "--ports");
  add({"security", "encrypt"}, encrypt_ ? "true" : "", "--encrypt");
  add({"ready_timeout"}, ready_timeout_, "--ready-timeout");
  add({"lost_after"}, lost_after_, "--lost-after");
  for (const std::string& framework : frameworks_) add({"frameworks"}, framework, "--framework");
  for (const std::string& option : framework_options_) {
    PILOT_TRY(config::FlagSetting setting, config::parse_option_flag(option));
    input.flags.push_back(std::move(setting));
  }
  PILOT_TRY_VOID(add_batch_options(input));
  PILOT_TRY_VOID(add_cores(input));
  return config::merge_layers(input);
}

Result<config::LocatedSpec> SpecFlags::spec(const std::string& name,
                                            const std::optional<config::Value>& spec) const {
  PILOT_TRY(const config::Value merged, settings(name, spec));
  return config::decode_pilot_spec(merged);
}

}  // namespace pilot::cli
