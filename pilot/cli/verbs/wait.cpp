// pilot wait
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/status_view.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/core/start.hpp"

namespace pilot::cli {
namespace {

struct WaitFlags {
  std::string name, goal = "ready", timeout;
};

Result<int> run_wait(Session& session, const WaitFlags& flags) {
  PILOT_TRY(const std::string name, pilot_name(flags.name));
  PILOT_TRY(const core::Goal goal, core::parse_goal(flags.goal));
  std::optional<Duration> timeout;
  if (!flags.timeout.empty()) {
    auto parsed = parse_duration(flags.timeout);
    if (!parsed.has_value()) return parsed.error().while_doing("--timeout");
    timeout = parsed.value();
  }
  Progress progress = session.make_progress();
  const core::Context context = session.context(progress);
  PILOT_TRY(core::RunningPilot pilot, core::RunningPilot::open(context, name));
  PILOT_TRY(const bool reached, core::wait_for(context, pilot, goal, timeout));
  progress.finish();
  if (session.json) print(status_json(pilot.state(), true, "").dump(2) + "\n");
  if (reached) return 0;
  say(fmt::format("pilot '{}' goes on; nothing was stopped", name));
  return 128 + signal_received();
}

}  // namespace

Command wait_command(Session& session) {
  auto flags = std::make_shared<WaitFlags>();
  Command command{"wait", "Wait until a pilot is ready or stopped"};
  command.description =
      "The exit code is 0 when it is, 4 when the time is over, 1 when it never will be. Ctrl-C stops waiting "
      "and "
      "nothing else.";
  command.examples = {"pilot wait demo --for ready --timeout 2m", "pilot wait demo --for stopped"};
  command.arguments = {pilot_argument(flags->name, false)};
  command.options = {{"--for", "STATE", "what to wait for [ready]", &flags->goal},
                     {"--timeout", "TIME", "give up after this time [never]", &flags->timeout}};
  command.run = [&session, flags] { return run_wait(session, *flags); };
  return command;
}

}  // namespace pilot::cli
