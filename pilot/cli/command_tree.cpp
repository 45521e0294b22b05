#include "pilot/cli/command_tree.hpp"

#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {

std::unique_ptr<Command> make_command_tree(Session& session) {
  auto root =
      std::make_unique<Command>(Command{"pilot", "Streaming clusters of your own on batch-scheduled nodes"});
  root->description =
      "A pilot is a named set of nodes with the clusters that run on them; it lives from 'pilot start' to "
      "'pilot stop'. "
      "Data go to standard output, everything else to standard error. 'pilot help states', 'pilot help "
      "exit-codes' and "
      "'pilot help env' explain more.";
  root->examples = {"pilot start demo --resource local --nodes 3 --framework kafka",
                    "pilot status demo",
                    "eval \"$(pilot env demo)\"",
                    "pilot logs demo kafka/broker-2 -f",
                    "pilot stop demo",
                    "pilot run examples/light-source.yaml"};
  root->options = session.options();
  auto& commands = root->commands;
  commands = {start_command(session),       extend_command(session),     shrink_command(session),
              recover_command(session),     stop_command(session),       status_command(session),
              list_command(session),        wait_command(session),       env_command(session),
              topic_command(session),       logs_command(session),       events_command(session),
              run_command(session),         frameworks_command(session), config_command(session),
              doctor_command(session),      completion_command(session), man_command(session, *root),
              help_command(session, *root), version_command(session),    complete_command(session, *root)};
  return root;
}

}  // namespace pilot::cli
