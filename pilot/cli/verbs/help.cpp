// pilot help
#include "pilot/cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "pilot/base/suggest.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/model/states.hpp"

namespace pilot::cli {
namespace {

template <typename Phase>
std::string machine(const std::string& title, model::Transitions<Phase> transitions) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  for (const auto& [from, to] : transitions) {
    const std::string name(model::to_string(from));
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.first == name; });
    if (row == rows.end()) row = rows.insert(rows.end(), {name, {}});
    row->second.emplace_back(model::to_string(to));
  }
  Table table({title, "MAY BECOME"});
  for (const auto& [from, to] : rows) table.add({from, fmt::format("{}", fmt::join(to, ", "))});
  return table.text(true, false);
}

std::string states_text() {
  return machine("PILOT", model::pilot_transitions()) + "\n" +
         machine("ALLOCATION", model::allocation_transitions()) + "\n" +
         machine("NODE", model::node_transitions()) + "\n" + machine("SERVICE", model::service_transitions());
}

std::string exit_codes_text() {
  Table table({"CODE", "MEANING"});
  table.add({"0", "done"});
  table.add({"1", "the operation was tried and failed"});
  table.add({"2", "usage: flags, configuration or input are wrong"});
  table.add({"3", "not found: no such pilot, service, file, software"});
  table.add({"4", "time-out: a deadline passed (wait --timeout)"});
  table.add({"5", "the batch system or an agent does not answer; a retry may help"});
  table.add({"6", "partly done"});
  table.add({"70", "a bug of ours"});
  table.add({"128+n", "ended by signal n: 130 is Ctrl-C"});
  return table.text(true, false);
}

std::string environment_text() {
  Table table({"VARIABLE", "MEANING"});
  table.add({"PILOT_HOME", "folder of pilots and their logs [$XDG_STATE_HOME/pilot]"});
  table.add({"PILOT_SOFTWARE", "folder of installed frameworks that users share [$XDG_CACHE_HOME/pilot]"});
  table.add({"PILOT_A__B", "the setting a.b: 'pilot config explain' lists them"});
  table.add({"KAFKA_HOME",
             "your own copy of Kafka; 'pilot frameworks list --json' names each framework's variable"});
  table.add({"JAVA_HOME", "the Java that runs servers, else the first on PATH"});
  table.add({"TMPDIR", "where nodes keep their data unless node.scratch is set [/tmp]"});
  table.add({"NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE", "no colour, colour; FORCE_COLOR wins over NO_COLOR"});
  return table.text(true, false);
}

Result<int> run_help(const Command& root, const std::vector<std::string>& topic) {
  if (topic.size() == 1 && topic[0] == "states") return print(states_text()), 0;
  if (topic.size() == 1 && topic[0] == "exit-codes") return print(exit_codes_text()), 0;
  if (topic.size() == 1 && topic[0] == "env") return print(environment_text()), 0;
  std::vector<const Command*> path{&root};
  for (const std::string& word : topic) {
    const auto& commands = path.back()->commands;
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& command) { return command.name == word; });
    if (found == commands.end()) {
      std::vector<std::string> known{"states", "exit-codes", "env"};
      for (const Command& command : commands)
        if (!command.hidden && command.name != "env") known.push_back(command.name);
      return make_error(ErrorCode::usage, fmt::format("there is no help on '{}'", word),
                        suggestion(word, known));
    }
    path.push_back(&*found);
  }
  print(help_text(path));
  return 0;
}

}  // namespace

Command help_command(Session&, const Command& root) {
  auto topic = std::make_shared<std::vector<std::string>>();
  Command command{"help", "Explain a command, or: states, exit-codes, env"};
  command.description =
      "'help states' prints the state machines of pilots, allocations, nodes and services; 'help exit-codes' "
      "what "
      "exit codes mean; 'help env' the variables that are looked at.";
  command.examples = {"pilot help start", "pilot help states"};
  command.arguments = {{"TOPIC", "a command or a topic", topic.get()}};
  command.run = [&root, topic] { return run_help(root, *topic); };
  return command;
}

}  // namespace pilot::cli
