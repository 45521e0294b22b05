// pilot stop
#include "pilot/core/stop.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {
namespace {

struct StopFlags {
  std::string name;
  bool force = false;
};

Result<int> run_stop(Session& session, const StopFlags& flags) {
  Progress progress = session.make_progress();
  auto stopped = core::stop_pilot(session.context(progress), flags.name, {flags.force});
  progress.finish();
  if (!stopped.has_value()) {
    if (signal_received() == 0) return stopped.error();
    print_error(stopped.error(), session.json);
    return 128 + signal_received();
  }
  const core::StopReport& report = stopped.value();
  if (session.json) {
    const nlohmann::ordered_json document{
        {"schema", "pilot.stop/1"},  {"name", flags.name},
        {"id", report.state.id},     {"state", model::to_string(report.state.phase)},
        {"by_head", report.by_head}, {"leftovers_ended", report.leftovers_ended},
        {"note", report.note},       {"left", report.left}};
    print(document.dump(2) + "\n");
  }
  const int code = report.left.empty() ? 0 : exit_code(ErrorCode::partial);
  if (session.quiet) return code;
  std::string text = fmt::format("pilot '{}' is stopped after {}; {}", flags.name, progress.elapsed(),
                                 report.left.empty() ? "nothing of it is left" : report.left);
  if (!report.note.empty()) text += fmt::format(" ({})", report.note);
  if (report.leftovers_ended > 0)
    text += fmt::format("; {} processes had to be ended by this command", report.leftovers_ended);
  say(text);
  return code;
}

}  // namespace

Command stop_command(Session& session) {
  auto flags = std::make_shared<StopFlags>();
  Command command{"stop", "Stop a pilot and everything that it started"};
  command.description =
      "Services end in the opposite order of their start, as their frameworks want to be ended. Then every "
      "process "
      "that the pilot ever started is verified to be gone, by identity and not by name, and what it made "
      "outside its "
      "folder is removed. It works when half of the pilot is dead already, and can be repeated. The folder "
      "with its "
      "logs moves to stopped/ beside the folders of pilots.";
  command.examples = {"pilot stop demo"};
  command.arguments = {pilot_argument(flags->name, true)};
  command.options = {{"--force", "", "give up what can't be reached (another machine's)", &flags->force}};
  command.run = [&session, flags] { return run_stop(session, *flags); };
  return command;
}

}  // namespace pilot::cli
