#include "pilot/cli/spec_flags.hpp"

#include <fmt/format.h>

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
  return options;
}

std::vector<Option> SpecFlags::more_options() {
  const auto none = Completes::nothing;
  const std::string group = "More options";
  return {
      {"-J,--name", "NAME", "the pilot's name", &name_, {}, none, group},
      {"-p,--partition,--queue", "NAME", "the batch system's queue", &queue_, {}, none, group},
      {"-A,--account", "NAME", "what the batch system charges", &account_, {}, none, group},
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
  };
}

Result<config::Value> SpecFlags::settings(const std::string& name,
                                          const std::optional<config::Value>& spec) const {
  config::LayerInput input;
  input.environment = config::pilot_environment();
  if (!file_.empty()) input.spec_file = file_;
  input.spec = spec;
  const auto add = [&](std::vector<std::string> path, const std::string& text, const char* flag) {
    if (!text.empty()) input.flags.push_back({std::move(path), text, flag});
  };
  add({"name"}, name_, "--name");
  add({"name"}, name, "NAME");
  add({"resource"}, resource_, "--resource");
  add({"nodes"}, nodes_, "--nodes");
  add({"walltime"}, walltime_, "--walltime");
  add({"batch", "queue"}, queue_, "--partition");
  add({"batch", "account"}, account_, "--account");
  add({"node", "cores"}, cores_, "--cores");
  add({"node", "memory"}, memory_, "--memory");
  add({"node", "scratch"}, scratch_, "--scratch");
  add({"network", "subnet"}, subnet_, "--subnet");
  add({"network", "ports"}, ports_, "--ports");
  add({"security", "encrypt"}, encrypt_ ? "true" : "", "--encrypt");
  add({"ready_timeout"}, ready_timeout_, "--ready-timeout");
  for (const std::string& framework : frameworks_) add({"frameworks"}, framework, "--framework");
  for (const std::string& option : framework_options_) {
    PILOT_TRY(config::FlagSetting setting, config::parse_option_flag(option));
    input.flags.push_back(std::move(setting));
  }
  return config::merge_layers(input);
}

Result<config::LocatedSpec> SpecFlags::spec(const std::string& name,
                                            const std::optional<config::Value>& spec) const {
  PILOT_TRY(const config::Value merged, settings(name, spec));
  return config::decode_pilot_spec(merged);
}

}  // namespace pilot::cli
