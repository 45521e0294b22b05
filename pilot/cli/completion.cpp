#include "pilot/cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pilot/base/suggest.hpp"

namespace pilot::cli {
namespace {

constexpr const char* bash_script = R"SCRIPT(# bash completion for pilot:  eval "$(pilot completion bash)"
_pilot() {
  local line kind=words
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) kind=files ;;
      :folders) kind=folders ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <(pilot __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case $kind in
    files) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2") ;;
    folders) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2") ;;
  esac
}
complete -F _pilot pilot
)SCRIPT";

constexpr const char* zsh_script = R"SCRIPT(#compdef pilot
# zsh completion for pilot:  source <(pilot completion zsh)
_pilot() {
  local line
  local -a found
  for line in "${(@f)$(pilot __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) _files ;;
      :folders) _files -/ ;;
      ?*) found+=("$line") ;;
    esac
  done
  (( ${#found} )) && compadd -- "${found[@]}"
}
compdef _pilot pilot
)SCRIPT";

constexpr const char* fish_script = R"SCRIPT(# fish completion for pilot:  pilot completion fish | source
function __pilot_complete
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    for line in (pilot __complete -- $words 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c pilot -f -a '(__pilot_complete)'
)SCRIPT";

const Option* find_option(const std::vector<const Command*>& path, const std::string& flag) {
  for (auto command = path.rbegin(); command != path.rend(); ++command)
    for (const Option& option : (*command)->options)
      for (const std::string& name : all_names(option))
        if (name == flag) return &option;
  return nullptr;
}

void add_named(Candidates& candidates, Completes what, const std::vector<std::string>& choices,
               const CompletionSources& sources) {
  const auto add = [&](const std::vector<std::string>& words) {
    candidates.words.insert(candidates.words.end(), words.begin(), words.end());
  };
  add(choices);
  switch (what) {
    case Completes::pilots:
      add(sources.pilots);
      break;
    case Completes::resources:
      add(sources.resources);
      break;
    case Completes::frameworks:
      add(sources.frameworks);
      break;
    case Completes::files:
    case Completes::folders:
      candidates.files = what;
      break;
    case Completes::nothing:
      break;
  }
}

void add_flags(Candidates& candidates, const std::vector<const Command*>& path) {
  for (const Command* command : path)
    for (const Option& option : command->options) candidates.words.push_back(long_name(option));
  candidates.words.emplace_back("--help");
}

// The commands named by the words before the last one, and how many arguments stand there.
struct Place {
  std::vector<const Command*> path;
  std::size_t arguments = 0;
  const Option* open = nullptr;  // the option whose value the last word is
};

Place place_of(const Command& root, const std::vector<std::string>& words) {
  Place place{{&root}, 0, nullptr};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].starts_with("-")) {
      const Option* option = find_option(place.path, words[i]);
      if (option == nullptr || option->value.empty()) continue;
      if (i + 2 == words.size()) place.open = option;
      ++i;
      continue;
    }
    const auto& commands = place.path.back()->commands;
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& command) { return command.name == words[i]; });
    if (found != commands.end()) {
      place.path.push_back(&*found);
    } else {
      ++place.arguments;
    }
  }
  return place;
}

void add_arguments(Candidates& candidates, const Place& place, const CompletionSources& sources) {
  const auto& arguments = place.path.back()->arguments;
  if (arguments.empty()) return;
  const Argument& argument = arguments[std::min(place.arguments, arguments.size() - 1)];
  const bool many = std::holds_alternative<std::vector<std::string>*>(argument.target);
  if (place.arguments < arguments.size() || many)
    add_named(candidates, argument.completes, argument.choices, sources);
}

}  // namespace

Result<std::string> completion_script(const std::string& shell) {
  if (shell == "bash") return std::string(bash_script);
  if (shell == "zsh") return std::string(zsh_script);
  if (shell == "fish") return std::string(fish_script);
  return make_error(ErrorCode::usage, fmt::format("there is no completion for '{}'", shell),
                    suggestion(shell, {"bash", "zsh", "fish"}));
}

Candidates complete(const Command& root, const std::vector<std::string>& words,
                    const CompletionSources& sources) {
  const std::string prefix = words.empty() ? "" : words.back();
  const Place place = place_of(root, words.empty() ? std::vector<std::string>{""} : words);
  Candidates all;
  if (place.open != nullptr) {
    add_named(all, place.open->completes, place.open->choices, sources);
  } else if (prefix.starts_with("-")) {
    add_flags(all, place.path);
  } else {
    for (const Command& sub : place.path.back()->commands)
      if (!sub.hidden && place.arguments == 0) all.words.push_back(sub.name);
    add_arguments(all, place, sources);
  }
  std::erase_if(all.words, [&](const std::string& word) { return !word.starts_with(prefix); });
  return all;
}

}  // namespace pilot::cli
