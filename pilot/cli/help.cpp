#include "pilot/cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "pilot/cli/parser.hpp"

namespace pilot::cli {
namespace {

constexpr std::size_t width = 100;

// Text broken into lines of at most `room` letters.
std::vector<std::string> wrapped(const std::string& text, std::size_t room) {
  std::vector<std::string> lines{""};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() > room) {
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

using Row = std::pair<std::string, std::string>;  // what, and its explanation

std::string rows_text(const std::vector<Row>& rows) {
  std::size_t column = 0;
  for (const Row& row : rows) column = std::max(column, std::min<std::size_t>(row.first.size(), 30));
  std::string text;
  for (const auto& [what, help] : rows) {
    const auto lines = wrapped(help, width - column - 4);
    const bool own_line = what.size() > column;
    text +=
        own_line ? fmt::format("  {}\n", what) : fmt::format("  {:<{}}  {}\n", what, column, lines.front());
    for (std::size_t i = own_line ? 0 : 1; i < lines.size(); ++i)
      text += fmt::format("  {:<{}}  {}\n", "", column, lines[i]);
  }
  return text;
}

Row row_of(const Option& option) {
  const auto names = all_names(option);
  std::string what = names.front().starts_with("--") ? "    " : "";
  what += fmt::format("{}", fmt::join(names, ", "));
  if (!option.value.empty()) what += " " + option.value;
  std::string help = option.help;
  if (!option.choices.empty()) help += fmt::format(" ({})", fmt::join(option.choices, ", "));
  return {what, help};
}

Row row_of(const Argument& argument) {
  std::string help = argument.help;
  if (!argument.choices.empty()) help += fmt::format(" ({})", fmt::join(argument.choices, ", "));
  return {argument.name, help};
}

std::vector<Row> rows_of(const std::vector<Command>& commands) {
  std::vector<Row> rows;
  for (const Command& command : commands)
    if (!command.hidden) rows.emplace_back(command.name, command.summary);
  return rows;
}

std::vector<std::string> groups_of(const Command& command) {
  std::vector<std::string> groups;
  for (const Option& option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

std::vector<Row> rows_of_group(const Command& command, const std::string& group) {
  std::vector<Row> rows;
  for (const Option& option : command.options)
    if (option.group == group) rows.push_back(row_of(option));
  return rows;
}

// roff: backslashes, and lines that begin with a dot.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '.' && (out.empty() || out.back() == '\n')) {
      out += "\\&.";
    } else {
      out += c;
    }
  }
  return out;
}

std::string roff_rows(const std::vector<Row>& rows) {
  std::string text;
  for (const auto& [what, help] : rows) {
    const auto start = what.find_first_not_of(' ');
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(what.substr(start)), escaped(help));
  }
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

ManPage man_page(const std::vector<const Command*>& path) {
  const Command& command = *path.back();
  std::string name;
  for (const Command* one : path) name += (name.empty() ? "" : "-") + one->name;
  std::string text =
      fmt::format(".TH {} 1 \"\" pilot \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n",
                  upper(name), escaped(name), escaped(command.summary), escaped(usage_line(path).substr(7)));
  if (!command.examples.empty()) text += ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : command.examples) text += escaped(example) + "\n";
  if (!command.examples.empty()) text += ".fi\n";
  if (!command.description.empty()) text += ".SH DESCRIPTION\n" + escaped(command.description) + "\n";
  if (!command.commands.empty()) text += ".SH COMMANDS\n" + roff_rows(rows_of(command.commands));
  std::vector<Row> arguments;
  for (const Argument& argument : command.arguments) arguments.push_back(row_of(argument));
  if (!arguments.empty()) text += ".SH ARGUMENTS\n" + roff_rows(arguments);
  for (const std::string& group : groups_of(command))
    text += fmt::format(".SH {}\n", upper(group)) + roff_rows(rows_of_group(command, group));
  if (path.size() > 1) text += ".SH SEE ALSO\n.BR pilot (1)\n";
  return {name + ".1", text};
}

void add_pages(std::vector<const Command*>& path, std::vector<ManPage>& pages) {
  pages.push_back(man_page(path));
  for (const Command& command : path.back()->commands) {
    if (command.hidden) continue;
    path.push_back(&command);
    add_pages(path, pages);
    path.pop_back();
  }
}

}  // namespace

std::string usage_line(const std::vector<const Command*>& path) {
  const Command& command = *path.back();
  std::string text = "usage: " + path_text(path);
  if (!command.options.empty()) text += " [OPTION]...";
  if (!command.commands.empty()) text += command.run ? " [COMMAND]" : " COMMAND";
  for (const Argument& argument : command.arguments) {
    const bool many = std::holds_alternative<std::vector<std::string>*>(argument.target);
    const std::string name = argument.name + (many ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string help_text(const std::vector<const Command*>& path) {
  const Command& command = *path.back();
  std::string text = command.summary + "\n";
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : command.examples) text += "  " + example + "\n";
  text += "\n" + usage_line(path) + "\n";
  std::istringstream paragraphs(command.description);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    text += "\n";
    for (const std::string& line : wrapped(paragraph, width)) text += line + "\n";
  }
  if (!command.commands.empty()) text += "\nCommands:\n" + rows_text(rows_of(command.commands));
  std::vector<Row> arguments;
  for (const Argument& argument : command.arguments) arguments.push_back(row_of(argument));
  if (!arguments.empty()) text += "\nArguments:\n" + rows_text(arguments);
  for (const std::string& group : groups_of(command))
    text += fmt::format("\n{}:\n", group) + rows_text(rows_of_group(command, group));
  if (path.size() > 1) text += "\n'pilot --help' lists the options that all commands have.\n";
  return text;
}

std::vector<ManPage> man_pages(const Command& root) {
  std::vector<ManPage> pages;
  std::vector<const Command*> path{&root};
  add_pages(path, pages);
  return pages;
}

}  // namespace pilot::cli
