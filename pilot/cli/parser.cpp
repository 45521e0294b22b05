#include "pilot/cli/parser.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "pilot/base/suggest.hpp"

namespace pilot::cli {
namespace {

class Parser {
 public:
  explicit Parser(const Command& root) : root_(root) { add(app_, root); }

  Result<Invocation> parse(const std::vector<std::string>& words) {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
      app_.parse(std::move(reversed));
    } catch (const CLI::ExtrasError&) {
      find_path();
      return unknown_word();
    } catch (const CLI::ArgumentMismatch& error) {
      find_path();
      return usage(what_is_missing(error.what()));
    } catch (const CLI::ParseError& error) {
      find_path();
      return usage(error.what());
    }
    find_path();
    Invocation invocation{path_, help_};
    if (!help_) PILOT_TRY_VOID(check_not_empty());
    if (!help_) PILOT_TRY_VOID(check());
    return invocation;
  }

 private:
  void add(CLI::App& app, const Command& command) {
    app.set_help_flag("");
    app.require_subcommand(0, 1);  // one command: a further word of that name is an argument
    app.add_flag("-h,--help", help_, "");
    for (const Option& option : command.options) add(app, option);
    // The root's options may stand after any command.  (CLI11's own way, fallthrough(), is not for this: it
    // also looks for commands there.)
    if (&command != &root_)
      for (const Option& option : root_.options) add(app, option);
    for (const Argument& argument : command.arguments) {
      if (auto* one = std::get_if<std::string*>(&argument.target)) {
        app.add_option(argument.name, **one, argument.help);
      } else {
        app.add_option(argument.name, *std::get<std::vector<std::string>*>(argument.target), argument.help);
      }
    }
    for (const Command& sub : command.commands) add(*app.add_subcommand(sub.name, ""), sub);
  }

  static void add(CLI::App& app, const Option& option) {
    if (auto* flag = std::get_if<bool*>(&option.target)) {
      app.add_flag(option.names, **flag, "")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else if (auto* count = std::get_if<int*>(&option.target)) {
      app.add_flag(option.names, **count, "");
    } else if (auto* one = std::get_if<std::string*>(&option.target)) {
      app.add_option(option.names, **one, "")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else {
      app.add_option(option.names, *std::get<std::vector<std::string>*>(option.target), "")
          ->expected(1)
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }

  // The commands that were named, as far as the line was understood.
  void find_path() {
    path_ = {&root_};
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) {
      app = app->get_subcommands().front();
      const auto& commands = path_.back()->commands;
      const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command& command) {
        return command.name == app->get_name();
      });
      if (found == commands.end()) return;
      path_.push_back(&*found);
    }
  }

  Error usage(std::string message, std::string hint = {}) const {
    if (hint.empty()) hint = fmt::format("'{} --help' explains it", path_text(path_));
    return make_error(ErrorCode::usage, std::move(message), std::move(hint));
  }

  std::vector<std::string> known_flags() const {
    std::vector<std::string> flags{"-h", "--help"};
    for (const Command* command : path_)
      for (const Option& option : command->options)
        for (const std::string& name : all_names(option)) flags.push_back(name);
    return flags;
  }

  std::vector<std::string> known_commands() const {
    std::vector<std::string> names;
    for (const Command& command : path_.back()->commands)
      if (!command.hidden) names.push_back(command.name);
    return names;
  }

  Error unknown_word() const {
    const auto words = app_.remaining(true);
    const std::string word = words.empty() ? "" : words.front();
    if (word.size() > 1 && word.front() == '-') {
      const std::string flag = word.substr(0, word.find('='));
      const auto near = nearest(flag, known_flags());
      return usage(fmt::format("'{}' has no flag '{}'", path_text(path_), flag),
                   near ? fmt::format("did you mean '{}'?", *near) : "");
    }
    if (!path_.back()->commands.empty())
      return usage(fmt::format("there is no command '{} {}'", path_text(path_), word),
                   suggestion(word, known_commands()));
    return usage(fmt::format("'{}' takes no further argument, but '{}' was given", path_text(path_), word));
  }

  // CLI11 says "--nodes: 1 required TEXT missing".
  static std::string what_is_missing(const std::string& message) {
    const auto colon = message.find(':');
    return colon != std::string::npos && message.find("required") != std::string::npos
               ? fmt::format("{} needs a value", message.substr(0, colon))
               : message;
  }

  Result<void> check_choice(const std::string& name, const std::string& word,
                            const std::vector<std::string>& choices) const {
    if (choices.empty() || word.empty() || std::find(choices.begin(), choices.end(), word) != choices.end())
      return ok();
    return usage(fmt::format("{} can't be '{}'", name, word), suggestion(word, choices));
  }

  // An empty word is mostly a variable of the shell that is not set: it must not become a default.
  Result<void> check_not_empty() const {
    if (path_.back()->hidden) return ok();  // completion has to do with half a line
    const CLI::App* app = &app_;
    for (;;) {
      for (const CLI::Option* option : app->get_options())
        if (option->count() > 0 && std::ranges::any_of(option->results(), &std::string::empty))
          return usage(fmt::format("{} must not be empty", option->get_name()));
      if (app->get_subcommands().empty()) return ok();
      app = app->get_subcommands().front();
    }
  }

  Result<void> check() const {
    const Command& command = *path_.back();
    for (const Command* one : path_)
      for (const Option& option : one->options)
        if (auto* text = std::get_if<std::string*>(&option.target))
          PILOT_TRY_VOID(check_choice(long_name(option), **text, option.choices));
    for (const Argument& argument : command.arguments) {
      auto* text = std::get_if<std::string*>(&argument.target);
      const bool empty =
          text != nullptr ? (*text)->empty() : std::get<std::vector<std::string>*>(argument.target)->empty();
      if (argument.required && empty)
        return usage(fmt::format("'{}' needs {}", path_text(path_), argument.name));
      if (text != nullptr) PILOT_TRY_VOID(check_choice(argument.name, **text, argument.choices));
    }
    if (!command.run && !command.commands.empty())
      return usage(fmt::format("'{}' needs a command", path_text(path_)),
                   fmt::format("one of: {}", fmt::join(known_commands(), ", ")));
    return ok();
  }

  const Command& root_;
  CLI::App app_;
  bool help_ = false;
  std::vector<const Command*> path_;
};

}  // namespace

std::string path_text(const std::vector<const Command*>& path) {
  std::string text;
  for (const Command* command : path) text += (text.empty() ? "" : " ") + command->name;
  return text;
}

Result<Invocation> parse(const Command& root, const std::vector<std::string>& words) {
  return Parser(root).parse(words);
}

}  // namespace pilot::cli
