// What a verb is to the program.  A verb's file has a function `void add_x(CLI::App& parent, Verb& chosen)`
// that adds its subcommand; when the command line names it, `chosen` becomes the work to do.  It runs
// after parsing, outside of CLI11 and its exceptions, and returns the exit code.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "pilot/base/error.hpp"

namespace CLI {
class App;
}

namespace miniapps::cli {

using Verb = std::function<int()>;

void add_source_light(CLI::App& source, Verb& chosen);
void add_process_gridrec(CLI::App& process, Verb& chosen);
void add_report(CLI::App& app, Verb& chosen);
void add_bench(CLI::App& app, Verb& chosen);
void add_gallery(CLI::App& app, Verb& chosen);

// Parses, runs what was chosen, returns the exit code.
int run_command_tree(int argc, char** argv);

// Prints "miniapp: message" and "hint: ..." to standard error; returns the error's exit code.
int report_error(const pilot::Error& error);

// "note: text" to standard error.
void print_note(std::string_view text);

}  // namespace miniapps::cli
