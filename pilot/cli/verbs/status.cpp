// pilot status
#include "pilot/core/status.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/status_view.hpp"
#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {
namespace {

Result<int> run_status(Session& session, const std::string& given) {
  PILOT_TRY(const std::string name, pilot_name(given));
  core::Observer nobody;
  PILOT_TRY(const core::PilotView view, core::view_pilot(session.context(nobody), name));
  if (session.json) {
    print(status_json(view.state, view.live, view.note, view.departures).dump(2) + "\n");
  } else {
    print(status_text(view.state, view.live, view.note, session.colour_on_stdout(), *session.clock,
                      view.departures));
  }
  return view.live || model::is_final(view.state.phase) ? 0 : exit_code(ErrorCode::unavailable);
}

}  // namespace

Command status_command(Session& session) {
  auto name = std::make_shared<std::string>();
  Command command{"status", "Show a pilot: its allocation, nodes, services and endpoints"};
  command.description =
      "Asks the head agent, which is started again if it died. When it can't be had the last known state is "
      "shown, "
      "with the reason, and the exit code is 5.";
  command.examples = {"pilot status demo", "pilot status demo --json | jq '.services[].state'"};
  command.arguments = {pilot_argument(*name, false)};
  command.run = [&session, name] { return run_status(session, *name); };
  return command;
}

}  // namespace pilot::cli
