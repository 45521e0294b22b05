// pilot start
#include "pilot/core/start.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/spec_flags.hpp"
#include "pilot/cli/status_view.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/config/yaml.hpp"
#include "pilot/core/check_spec.hpp"
#include "pilot/core/dry_run.hpp"
#include "pilot/core/reopen.hpp"

namespace pilot::cli {
namespace {

using nlohmann::ordered_json;

constexpr auto margin = std::chrono::seconds(30);  // the head's own ready_timeout comes first

struct StartFlags {
  SpecFlags spec;
  std::string name, from;
  bool no_wait = false, dry_run = false, validate = false;
};

Result<int> print_dry_run(Session& session, core::Context context, const config::LocatedSpec& located) {
  PILOT_TRY_VOID(core::check_spec(session.registry, located.spec, located.origins));
  PILOT_TRY(const core::DryRun run, core::dry_run(context, located.spec));
  if (session.json) {
    ordered_json plans = ordered_json::array();
    for (const model::ClusterPlan& plan : run.plans)
      plans.push_back(ordered_json::parse(codec::encode(plan)));
    const ordered_json document{{"schema", "pilot.plan/1"},
                                {"name", located.spec.name},
                                {"script", run.script},
                                {"plans", std::move(plans)},
                                {"notes", run.notes}};
    print(document.dump(2) + "\n");
    return 0;
  }
  for (const std::string& note : run.notes) say("note: " + note);
  print(run.script);
  for (const model::ClusterPlan& plan : run.plans) {
    print(fmt::format("\n# {} {} on example nodes\n", plan.framework, plan.version));
    Table table({"SERVICE", "NODE", "STAGE", "PORTS"});
    for (const model::ServiceSpec& service : plan.services) {
      std::string ports;
      for (const auto& [use, port] : service.ports)
        ports += fmt::format("{}{}:{}", ports.empty() ? "" : " ", use, port);
      table.add({service.id, service.node, std::to_string(service.stage), ports});
    }
    print(table.text(true, session.colour_on_stdout()));
    for (const model::ServiceSpec& service : plan.services) {
      print(fmt::format("\n# {}\n{}\n", service.id, fmt::join(service.command.argv, " ")));
      for (const model::FileSpec& file : service.files)
        print(fmt::format("## {}\n{}\n", file.path, file.content));
    }
  }
  return 0;
}

Result<int> print_validation(Session& session, const core::Context& context,
                             const config::LocatedSpec& located) {
  PILOT_TRY(const auto checks, core::validate_start(context, located.spec, located.origins));
  if (session.json) {
    print(ordered_json{{"schema", "pilot.validation/1"}, {"valid", true}, {"checks", checks}}.dump(2) + "\n");
    return 0;
  }
  for (const std::string& check : checks) print(check + "\n");
  return 0;
}

// What was not asked for by a flag should be seen.
void say_where(Session& session, const config::LocatedSpec& located) {
  const auto origin = located.origins.find("resource");
  if (session.quiet || located.spec.resource != "allocation" || origin == located.origins.end()) return;
  if (origin->second.ends_with("JOB_ID") || origin->second.ends_with("JOBID"))
    say(fmt::format("this runs in a batch job ({}): its nodes are used; --resource NAME asks for others",
                    origin->second));
}

void say_what_next(const core::RunningPilot& pilot, const Progress& progress) {
  const std::string& name = pilot.state().spec.name;
  say(fmt::format("pilot '{}' is ready after {}", name, progress.elapsed()));
  if (!pilot.state().clusters.empty())
    say(fmt::format("eval \"$(pilot env {})\" names its clusters to this shell", name));
}

Result<int> wait_until_ready(Session& session, const core::Context& context, core::RunningPilot& pilot,
                             Progress& progress) {
  const std::string name = pilot.state().spec.name;
  auto ready =
      core::wait_for(context, pilot, core::Goal::ready, pilot.state().spec.ready_timeout + margin, true);
  progress.finish();
  if (!ready.has_value()) {
    const core::Failure failure = core::failure_of(pilot.state());
    if (!failure.log_tail.empty())
      say(fmt::format("the last lines of {}:\n{}", failure.service, failure.log_tail));
    Error error = ready.error();
    if (error.hint.empty())
      error.hint = fmt::format("'pilot logs {} {}' shows more", name,
                               failure.service.empty() ? "head" : failure.service);
    return error;
  }
  if (!ready.value()) {
    say(fmt::format(
        "pilot '{}' goes on starting; 'pilot wait {} --for ready' waits again, 'pilot stop {}' ends it", name,
        name, name));
    return 128 + signal_received();
  }
  if (!session.quiet) say_what_next(pilot, progress);
  return 0;
}

Result<config::LocatedSpec> located_spec(const StartFlags& flags) {
  if (flags.from.empty()) return flags.spec.spec(flags.name);
  PILOT_TRY(const model::PilotState stopped, core::stopped_pilot(flags.from));
  PILOT_TRY(const config::Value settings,
            config::parse_yaml(core::settings_of(stopped), "--from " + flags.from));
  const std::string name = flags.name.empty() ? stopped.spec.name : flags.name;
  PILOT_TRY(config::LocatedSpec located, flags.spec.spec(name, settings));
  PILOT_TRY_VOID(core::reopen_in(located.spec, stopped));
  return located;
}

Result<int> run_start(Session& session, const StartFlags& flags) {
  PILOT_TRY(const config::LocatedSpec located, located_spec(flags));
  Progress progress = session.make_progress();
  const core::Context context = session.context(progress);
  say_where(session, located);
  if (flags.dry_run) return print_dry_run(session, context, located);
  if (flags.validate) return print_validation(session, context, located);
  PILOT_TRY(core::RunningPilot pilot, core::start_pilot(context, located.spec, located.origins));
  int code = 0;
  if (!flags.no_wait) {
    PILOT_TRY(code, wait_until_ready(session, context, pilot, progress));
  } else if (!session.quiet) {
    say(fmt::format("pilot '{}' is starting; 'pilot wait {} --for ready' waits for it", located.spec.name,
                    located.spec.name));
  }
  if (session.json) print(status_json(pilot.state(), true, "").dump(2) + "\n");
  return code;
}

}  // namespace

Command start_command(Session& session) {
  auto flags = std::make_shared<StartFlags>();
  Command command{"start", "Start a pilot: nodes, and the clusters on them"};
  command.description =
      "Waits until every service answers; --no-wait returns at once. Ctrl-C stops waiting, not the pilot. "
      "Settings come from flags, the environment, the spec, ./pilot.yaml and configuration files, in this "
      "order; "
      "'pilot config show --origin' says which.";
  command.examples = {
      "pilot start demo --nodes 3 --framework kafka",
      "pilot start -f spec.yaml --nodes 5 --option kafka.controllers=3",
      "pilot start demo --framework kafka --option kafka.data=/scratch/me    # data outlive it",
      "pilot start --from demo                       # and are opened again",
      "pilot start demo -f spec.yaml --dry-run      # what would be started, and where"};
  command.arguments = {{"NAME", "what the pilot is called", &flags->name}};
  command.options = flags->spec.options();
  command.options.push_back({"--from", "PILOT",
                             "open the data again that this stopped pilot kept; flags change the rest",
                             &flags->from});
  command.options.push_back({"--no-wait", "", "return when the nodes are asked for", &flags->no_wait});
  command.options.push_back(
      {"--dry-run", "", "print the script and the plan; start nothing", &flags->dry_run});
  command.options.push_back(
      {"--validate", "", "ask the batch system whether it would run this; start nothing", &flags->validate});
  std::stable_partition(command.options.begin(), command.options.end(),
                        [](const Option& option) { return option.group == "Options"; });
  command.run = [&session, flags] { return run_start(session, *flags); };
  return command;
}

}  // namespace pilot::cli
