// miniapp report
#include "miniapps/campaign/report_page.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <optional>

#include "miniapps/cli/command_tree.hpp"
#include "pilot/base/file.hpp"

namespace miniapps::cli {
namespace {

constexpr auto about =
    "Makes one HTML page from the JSON documents of a run: figures, rates over time, latencies, slices.\n\n"
    "Examples:\n"
    "  miniapp source light ... --json > source.json\n"
    "  miniapp process gridrec ... --json > process.json\n"
    "  miniapp report --source source.json --process process.json --output report.html\n\n"
    "The page needs no other file: pictures are inside.";

struct Typed {
  std::vector<std::string> sources, processors;
  std::string run, output = "report.html", title;
};

pilot::Result<void> write_page(const Typed& typed) {
  if (typed.sources.empty() && typed.processors.empty())
    return pilot::make_error(pilot::ErrorCode::usage, "a report of what?",
                             "give --source FILE and --process FILE");
  const std::vector<std::filesystem::path> sources(typed.sources.begin(), typed.sources.end());
  const std::vector<std::filesystem::path> processors(typed.processors.begin(), typed.processors.end());
  std::optional<std::filesystem::path> run;
  if (!typed.run.empty()) run = typed.run;
  PILOT_TRY(auto input, campaign::read_report_input(sources, processors, run));
  if (!typed.title.empty()) input.title = typed.title;
  return pilot::write_file(typed.output, campaign::report_page(input));
}

int run(const Typed& typed) {
  if (const auto written = write_page(typed); !written) return report_error(written.error());
  fmt::print("{}\n", typed.output);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Verb& chosen) {
  CLI::App& verb = *app.add_subcommand("report", about);
  const auto typed = std::make_shared<Typed>();
  verb.add_option("--source", typed->sources, "Documents of 'miniapp source --json'")->type_name("FILE ...");
  verb.add_option("--process", typed->processors, "Documents of 'miniapp process --json'")
      ->type_name("FILE ...");
  verb.add_option("--run", typed->run, "Document of 'pilot run --json': versions, configuration")
      ->type_name("FILE");
  verb.add_option("-o,--output", typed->output, "The page")->type_name("FILE")->capture_default_str();
  verb.add_option("--title", typed->title, "Its heading")->type_name("TEXT");
  verb.callback([&chosen, typed] { chosen = [typed] { return run(*typed); }; });
}

}  // namespace miniapps::cli
