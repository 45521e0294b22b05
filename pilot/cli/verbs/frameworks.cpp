// pilot frameworks list, pilot frameworks install
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/core/software.hpp"

namespace pilot::cli {
namespace {

using nlohmann::ordered_json;

ordered_json options_json(const plugin::FrameworkAdaptor& adaptor) {
  ordered_json list = ordered_json::array();
  for (const plugin::OptionDoc& option : adaptor.options())
    list.push_back({{"name", option.name}, {"default", option.default_value}, {"help", option.help}});
  return list;
}

ordered_json software_json(const Result<plugin::Software>& software) {
  if (!software.has_value()) return nullptr;
  const plugin::Software& found = software.value();
  return {{"version", found.version},
          {"home", found.home.string()},
          {"origin", found.origin},
          {"java", found.java.string()},
          {"details", found.details}};
}

Result<int> run_list(Session& session) {
  ordered_json list = ordered_json::array();
  Table table({"FRAMEWORK", "STATE", "VERSION", "FROM", "HOME", "SUMMARY"});
  std::vector<std::string> notes;
  for (const plugin::FrameworkAdaptor* adaptor : session.registry.frameworks()) {
    const auto software = core::locate_software(*adaptor);
    const bool missing = !software.has_value() && software.error().code == ErrorCode::not_found;
    const std::string state = software.has_value() ? "installed" : missing ? "missing" : "failed";
    if (!software.has_value()) notes.push_back(software.error().text());
    if (software.has_value()) {
      const plugin::Software& found = software.value();
      table.add({std::string(adaptor->name()), state, found.version, found.origin, found.home.string(),
                 std::string(adaptor->summary())});
    } else {
      table.add({std::string(adaptor->name()), state, "-", "-", "-", std::string(adaptor->summary())});
    }
    list.push_back({{"name", adaptor->name()},
                    {"summary", adaptor->summary()},
                    {"state", state},
                    {"software", software_json(software)},
                    {"problem", software.has_value() ? "" : software.error().text()},
                    {"recipe_version", adaptor->install_recipe().version},
                    {"home_variable", adaptor->home_variable()},
                    {"options", options_json(*adaptor)}});
  }
  if (session.json) {
    print(ordered_json{{"schema", "pilot.frameworks/1"}, {"frameworks", std::move(list)}}.dump(2) + "\n");
    return 0;
  }
  print(table.text(true, session.colour_on_stdout()));
  if (!session.quiet)
    for (const std::string& note : notes) say("note: " + note);
  return 0;
}

struct InstallFlags {
  std::string name, prefix;
};

Result<int> run_install(Session& session, const InstallFlags& flags) {
  PILOT_TRY(const plugin::FrameworkAdaptor* adaptor, session.registry.framework(flags.name));
  Progress progress = session.make_progress();
  const auto prefix = flags.prefix.empty() ? core::software_prefix() : std::filesystem::path(flags.prefix);
  auto installed = core::install_software(session.context(progress), *adaptor, prefix);
  progress.finish();
  if (!installed.has_value()) {
    if (signal_received() == 0) return installed.error();
    print_error(installed.error(), session.json);
    return 128 + signal_received();
  }
  if (session.json) {
    ordered_json document{{"schema", "pilot.framework/1"}, {"name", adaptor->name()}};
    document["software"] = software_json(installed);
    print(document.dump(2) + "\n");
  } else if (!session.quiet && !flags.prefix.empty()) {
    say(fmt::format("users of this copy set PILOT_SOFTWARE={}", std::filesystem::absolute(prefix).string()));
  }
  return 0;
}

Command list_command_of(Session& session) {
  Command command{"list", "List the frameworks: installed or not, version, where from"};
  command.examples = {"pilot frameworks list", "pilot frameworks list --json    # also their options"};
  command.run = [&session] { return run_list(session); };
  return command;
}

Command install_command_of(Session& session) {
  auto flags = std::make_shared<InstallFlags>();
  Command command{"install", "Install a framework at the version that was tried with this pilot"};
  command.description =
      "Into $PILOT_SOFTWARE or the cache folder, from the package registry (Maven). It can be interrupted "
      "and repeated. "
      "Afterwards no network is needed.";
  command.examples = {
      "pilot frameworks install kafka",
      "pilot frameworks install kafka --prefix /software/pilot    # shared by the users of a cluster"};
  command.arguments = {{"FRAMEWORK", "which one", &flags->name, true, {}, Completes::frameworks}};
  command.options = {{"--prefix", "DIR", "the software folder", &flags->prefix, {}, Completes::folders}};
  command.run = [&session, flags] { return run_install(session, *flags); };
  return command;
}

}  // namespace

Command frameworks_command(Session& session) {
  Command command{"frameworks", "List and install the frameworks that a pilot can run"};
  command.description =
      "A copy of your own is used when its variable names it (KAFKA_HOME for Kafka); else one that was "
      "installed.";
  command.examples = {"pilot frameworks list", "pilot frameworks install kafka"};
  command.commands = {list_command_of(session), install_command_of(session)};
  return command;
}

}  // namespace pilot::cli
