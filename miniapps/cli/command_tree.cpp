#include "miniapps/cli/command_tree.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

#include "miniapps/cli/help_formatter.hpp"
#include "pilot/base/log.hpp"
#include "pilot/base/suggest.hpp"

namespace miniapps::cli {
namespace {

constexpr auto about =
    "Sources that generate detector data and processors that consume it, over Kafka.\n\n"
    "Examples:\n"
    "  miniapp source light --pilot demo --input scan.h5 --rate 20/s --count 200\n"
    "  miniapp process gridrec --pilot demo --output out/ --parallelism 2\n"
    "  miniapp source light --phantom shepp-logan --write scan.h5      # no cluster needed\n\n"
    "The cluster is a pilot's (--pilot NAME), one with an address (--bootstrap HOST:PORT), or one described\n"
    "by a librdkafka file (--client-config FILE, or PILOT_KAFKA_CONFIG).";

// The subcommand that the command line went into last.
CLI::App* deepest(CLI::App* app) {
  for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = app->get_subcommands())
    app = chosen.front();
  return app;
}

std::string path_of(const CLI::App* app) {
  const CLI::App* parent = app->get_parent();
  return parent == nullptr ? app->get_name() : path_of(parent) + " " + app->get_name();
}

// The names that could have been meant by `word`: options when it begins with '-', else subcommands.
std::string suggestion_for(const std::string& word, CLI::App* app) {
  std::vector<std::string> names;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : app->get_options({}))
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    const std::string flag = word.substr(0, word.find('='));
    const auto near = pilot::nearest(flag, names);
    return near ? fmt::format("did you mean '{}'?", *near) : std::string{};
  }
  for (const CLI::App* sub : app->get_subcommands({})) names.push_back(sub->get_name());
  return names.empty() ? std::string{} : pilot::suggestion(word, names);
}

int usage_error(const std::string& message, const std::string& hint, const CLI::App* app) {
  fmt::print(stderr, "miniapp: {}\n", message);
  if (!hint.empty()) fmt::print(stderr, "hint: {}\n", hint);
  fmt::print(stderr, "'{} --help' shows the options\n", path_of(app));
  return pilot::exit_code(pilot::ErrorCode::usage);
}

int explain(const CLI::ParseError& error, CLI::App& app) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  CLI::App* where = deepest(&app);
  if (const auto extras = app.remaining(true); !extras.empty())
    return usage_error(
        fmt::format("unknown {} '{}'", extras.front().starts_with("-") ? "option" : "word", extras.front()),
        suggestion_for(extras.front(), where), where);
  if (error.get_name() == "RequiredError" && !where->get_subcommands({}).empty()) {
    std::vector<std::string> names;
    for (const CLI::App* sub : where->get_subcommands({})) names.push_back(sub->get_name());
    return usage_error(fmt::format("'{}' wants to know what", path_of(where)),
                       fmt::format("one of: {}", fmt::join(names, ", ")), where);
  }
  return usage_error(error.what(), {}, where);
}

}  // namespace

int run_command_tree(int argc, char** argv) {
  CLI::App app(about, "miniapp");
  app.set_version_flag("--version", "miniapp " PILOT_VERSION);
  app.require_subcommand(1);
  app.formatter(make_help_formatter());
  bool verbose = false;
  app.add_flag("-v,--verbose", verbose, "What happens, on standard error");

  Verb chosen;
  CLI::App& source = *app.add_subcommand("source", "Generate data and send it");
  source.require_subcommand(1);
  add_source_light(source, chosen);
  CLI::App& process = *app.add_subcommand("process", "Receive data and reconstruct it");
  process.require_subcommand(1);
  add_process_gridrec(process, chosen);
  add_report(app, chosen);
  add_bench(app, chosen);
  add_gallery(app, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return explain(error, app);
  }
  if (verbose) pilot::log::set_level(pilot::log::Level::debug);
  return chosen();
}

int report_error(const pilot::Error& error) {
  fmt::print(stderr, "miniapp: {}\n", error.message);
  if (!error.hint.empty()) fmt::print(stderr, "hint: {}\n", error.hint);
  return pilot::exit_code(error.code);
}

void print_note(std::string_view text) {
  fmt::print(stderr, "note: {}\n", text);
}

}  // namespace miniapps::cli
