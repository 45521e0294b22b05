#include "tests/bench/kernels/bench_kernels.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "tests/bench/kernels/measurements.hpp"
#include "tests/bench/kernels/peers.hpp"

namespace bench_kernels {
namespace {

constexpr const char* help =
    "GridRec, centre finding, ML-EM and k-means on one core of this machine: a table of times, goals, peers\n"
    "and quality, the limits of the machine, and a roofline.  It takes about two minutes.\n\n"
    "Examples:\n"
    "  %s                                 # the table; the plot in kernels-roofline.svg\n"
    "  %s --quick --no-svg\n"
    "  %s --python ~/venv/bin/python      # with the TomoPy and scikit-learn of that interpreter\n\n"
    "Options:\n"
    "  --quick            shorter, and no 2048 columns\n"
    "  --only KERNEL      gridrec, centre, mlem, kmeans or threads\n"
    "  --seconds S        time per kernel [0.5]\n"
    "  --svg FILE         the roofline plot [kernels-roofline.svg]\n"
    "  --no-svg           no plot\n"
    "  --python FILE      interpreter that is asked for TomoPy and scikit-learn [python3]\n"
    "  --tomopy-lib FILE  TomoPy's libtomo: a shared library with gridrec() and osem()\n"
    "  --no-peers         measure ours only\n\n"
    "The time is CPU time of one thread, the median of seven repetitions and the best of them; where others\n"
    "use the machine the second is nearer to what it can do.  A goal that is missed is shown (MISS), and is\n"
    "no error.  Goals are for one core of the class on which they were set (2.6 GHz, AVX-512).\n";

// The command as the user knows it.
std::string name_of(const char* argument) {
  const std::string_view whole = argument;
  const std::size_t slash = whole.rfind('/');
  return std::string(slash == std::string_view::npos ? whole : whole.substr(slash + 1));
}

struct Kernel {
  const char* name;
  std::vector<Row> (*measure)(const Options&);
};
constexpr Kernel kernels[] = {{"gridrec", measure_gridrec},
                              {"centre", measure_centre},
                              {"mlem", measure_iterative},
                              {"kmeans", measure_kmeans},
                              {"threads", measure_threads}};

// The value of `name`, or what is wrong.
std::string take(Options& options, std::string_view name, const char* value) {
  if (name == "--svg")
    options.svg = value;
  else if (name == "--tomopy-lib")
    options.tomopy_library = value;
  else if (name == "--python")
    options.python = value;
  else if (name == "--only") {
    options.only = value;
    for (const auto& kernel : kernels)
      if (options.only == kernel.name) return {};
    return "--only '" + options.only + "' is no kernel: gridrec, centre, mlem, kmeans, threads";
  } else if (name != "--seconds")
    return "unknown option '" + std::string(name) + "'";
  else if (!(std::atof(value) > 0 && std::atof(value) <= 3600))
    return "--seconds '" + std::string(value) + "' is not a number above 0, up to 3600";
  else
    options.seconds = std::atof(value);
  return {};
}

std::optional<Options> parse(int argc, char** argv, std::string& problem) {
  Options options;
  for (int i = 1; i < argc && problem.empty(); ++i) {
    const std::string_view name = argv[i];
    if (name == "--quick")
      options.quick = true;
    else if (name == "--no-svg")
      options.svg.clear();
    else if (name == "--no-peers")
      options.python.clear();
    else if (i + 1 < argc)
      problem = take(options, name, argv[++i]);
    else if (Options ignored; (problem = take(ignored, name, name == "--only" ? "mlem" : "1")).empty())
      problem = "option '" + std::string(name) + "' needs a value";
  }
  if (!problem.empty()) return std::nullopt;
  return options;
}

}  // namespace
}  // namespace bench_kernels

int bench_kernels_main(int argc, char** argv) {
  using namespace bench_kernels;
  const std::string name = name_of(argv[0]);
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--help" || std::string_view(argv[i]) == "-h") {
      std::printf(help, name.c_str(), name.c_str(), name.c_str());
      return 0;
    }
  std::string problem;
  const std::optional<Options> options = parse(argc, argv, problem);
  if (!options) {
    std::fprintf(stderr, "%s: %s\n'%s --help' shows the options\n", name.c_str(), problem.c_str(),
                 name.c_str());
    return 2;
  }
  const Limits limits = measure_limits(*options);
  std::vector<Row> rows;
  for (const auto& kernel : kernels) {
    if (!options->only.empty() && options->only != kernel.name) continue;
    for (Row& row : kernel.measure(*options)) rows.push_back(std::move(row));
  }
  print_table(limits, rows, why_left_out(*options));
  if (options->svg.empty()) return 0;
  if (!write_roofline(options->svg, limits, rows)) {
    std::fprintf(stderr, "%s: cannot write %s\n", name.c_str(), options->svg.c_str());
    return 1;
  }
  std::fprintf(stderr, "roofline: %s\n", options->svg.c_str());
  return 0;
}
