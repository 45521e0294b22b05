// pilot completion, and the hidden pilot __complete that its scripts call
#include "pilot/cli/completion.hpp"

#include <memory>

#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::cli {

Command completion_command(Session&) {
  auto shell = std::make_shared<std::string>();
  Command command{"completion", "Print the completion script of a shell"};
  command.examples = {"eval \"$(pilot completion bash)\"", "source <(pilot completion zsh)",
                      "pilot completion fish | source"};
  command.arguments = {{"SHELL", "which", shell.get(), true, {"bash", "zsh", "fish"}}};
  command.run = [shell]() -> Result<int> {
    PILOT_TRY(const std::string script, completion_script(*shell));
    print(script);
    return 0;
  };
  return command;
}

Command complete_command(Session& session, const Command& root) {
  auto words = std::make_shared<std::vector<std::string>>();
  Command command{"__complete", "Candidates for the last word, for completion scripts"};
  command.hidden = true;
  command.arguments = {{"WORDS", "the words after the program's name", words.get()}};
  command.run = [&session, &root, words]() -> Result<int> {
    CompletionSources sources;
    sources.pilots = store::PilotFolder::names();
    for (const auto* batch : session.registry.batches()) sources.resources.emplace_back(batch->name());
    for (const auto* framework : session.registry.frameworks())
      sources.frameworks.emplace_back(framework->name());
    const Candidates found = complete(root, *words, sources);
    for (const std::string& word : found.words) print(word + "\n");
    if (found.files == Completes::files) print(":files\n");
    if (found.files == Completes::folders) print(":folders\n");
    return 0;
  };
  return command;
}

}  // namespace pilot::cli
