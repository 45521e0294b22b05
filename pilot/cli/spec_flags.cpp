#include "pilot/cli/spec_flags.hpp"

#include <fmt/format.h>

namespace pilot::cli {

std::vector<Option> SpecFlags::options(bool with_file) {
  const auto none = Completes::nothing;
  const std::string common = "Options", more = "More options";
  std::vector<Option> options{
      {"-r,--resource", "NAME", "what gives the nodes [local]", &resource_, {}, Completes::resources, common},
      {"-N,--nodes", "N", "how many nodes [1]", &nodes_, {}, none, common},
      {"-t,--walltime", "TIME", "how long: 2h30m, 01:30:00", &walltime_, {}, none, common},
      {"--framework",
       "NAME",
       "what runs on the nodes; may be repeated",
       &frameworks_,
       {},
       Completes::frameworks,
       common},
      {"--option",
       "KEY=VALUE",
       "a framework's setting: kafka.controllers=3; may be repeated",
       &framework_options_,
       {},
       none,
       common},
      {"-J,--name", "NAME", "the pilot's name", &name_, {}, none, more},
      {"-p,--partition,--queue", "NAME", "the batch system's queue", &queue_, {}, none, more},
      {"-A,--account", "NAME", "what the batch system charges", &account_, {}, none, more},
      {"--cores", "N", "cores per node", &cores_, {}, none, more},
      {"--memory", "SIZE", "memory per node: 2G", &memory_, {}, none, more},
      {"--scratch",
       "DIR",
       "node-local folder for data [$TMPDIR or /tmp]",
       &scratch_,
       {},
       Completes::folders,
       more},
      {"--encrypt", "", "TLS between services and clients", &encrypt_, {}, none, more},
      {"--ports",
       "A-B",
       "services listen on free ports of this range [20000-29999]",
       &ports_,
       {},
       none,
       more},
      {"--subnet", "CIDR", "local: addresses of the nodes [127.77.0.0/16]", &subnet_, {}, none, more},
      {"--ready-timeout",
       "TIME",
       "a pilot that is not ready by then has failed [3m]",
       &ready_timeout_,
       {},
       none,
       more},
  };
  if (with_file)
    options.insert(options.begin(), {"-f,--file",
                                     "SPEC",
                                     "read the spec from a YAML file; flags win over it",
                                     &file_,
                                     {},
                                     Completes::files,
                                     common});
  return options;
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
