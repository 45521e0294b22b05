// miniapp bench
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "miniapps/cli/command_tree.hpp"
#include "miniapps/cli/sibling_program.hpp"

namespace miniapps::cli {

void add_bench(CLI::App& app, Verb& chosen) {
  CLI::App& bench = *app.add_subcommand("bench",
                                        "Measure this machine\n\n"
                                        "Examples:\n"
                                        "  miniapp bench kernels                # the table, and a roofline\n"
                                        "  miniapp bench kernels --help");
  bench.require_subcommand(1);
  add_sibling(bench, "kernels", "GridRec, ML-EM and k-means against their peers and the machine's limits",
              {"miniapp bench kernels", "kernels_bench", "libbenchmark-dev"}, chosen);
}

void add_gallery(CLI::App& app, Verb& chosen) {
  add_sibling(app, "gallery", "Pictures of what the kernels do, in one page",
              {"miniapp gallery", "kernels_gallery", "libbenchmark-dev and libpng-dev"}, chosen);
}

}  // namespace miniapps::cli
