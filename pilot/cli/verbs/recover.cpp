// pilot recover
#include "pilot/core/recover.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {
namespace {

struct RecoverFlags {
  std::string name, timeout = "2m";
};

Result<int> run_recover(Session& session, const RecoverFlags& flags) {
  PILOT_TRY(const std::string name, pilot_name(flags.name));
  auto timeout = parse_duration(flags.timeout);
  if (!timeout.has_value()) return timeout.error().while_doing("--timeout");
  Progress progress = session.make_progress();
  const core::Context context = session.context(progress);
  PILOT_TRY(core::RunningPilot pilot, core::RunningPilot::open(context, name));
  PILOT_TRY(const core::Recovery recovery, core::recover_pilot(context, pilot, timeout.value()));
  progress.finish();
  if (session.json) {
    print(nlohmann::ordered_json{{"schema", "pilot.recovery/1"},
                                 {"name", name},
                                 {"was_needed", recovery.was_needed},
                                 {"node", recovery.node},
                                 {"start", recovery.start}}
              .dump(2) +
          "\n");
  } else if (recovery.was_needed) {
    say(fmt::format("the head agent of '{}' is on {} now", name, recovery.node));
  } else {
    say(fmt::format("the head agent of '{}' answers; there is nothing to recover", name));
  }
  return 0;
}

}  // namespace

Command recover_command(Session& session) {
  auto flags = std::make_shared<RecoverFlags>();
  Command command{"recover", "Get a head agent for a pilot that lost its own"};
  command.description =
      "When the node of the head agent is lost, services go on, and after some 15 s the next node starts a "
      "head "
      "agent from the pilot's event log. This command waits for that, starts node agents again if none does "
      "it, "
      "and says which node keeps the head now. The exit code is 5 when no node can.";
  command.examples = {"pilot recover demo", "pilot recover demo --timeout 10m"};
  command.arguments = {pilot_argument(flags->name, false)};
  command.options = {{"--timeout", "TIME", "give up after this time [2m]", &flags->timeout}};
  command.run = [&session, flags] { return run_recover(session, *flags); };
  return command;
}

}  // namespace pilot::cli
