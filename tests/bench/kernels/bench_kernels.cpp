#include "tests/bench/kernels/bench_kernels.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "tests/bench/kernels/measurements.hpp"

namespace bench_kernels {
namespace {

constexpr const char* usage =
    "usage: kernels_bench [--quick] [--seconds S] [--svg FILE] [--tomopy-lib FILE] [--python FILE]\n"
    "  --quick            fewer repetitions, no 2048 columns\n"
    "  --seconds S        time per kernel (default 0.5)\n"
    "  --svg FILE         write a roofline plot\n"
    "  --tomopy-lib FILE  compare with TomoPy's libtomo, a shared library with gridrec() and osem()\n"
    "  --python FILE      compare with scikit-learn of that interpreter\n";

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--quick") {
      options.quick = true;
      continue;
    }
    if (i + 1 == argc) return std::nullopt;
    const char* const value = argv[++i];
    if (name == "--svg")
      options.svg = value;
    else if (name == "--tomopy-lib")
      options.tomopy_library = value;
    else if (name == "--python")
      options.python = value;
    else if (name == "--seconds" && std::atof(value) > 0)
      options.seconds = std::atof(value);
    else
      return std::nullopt;
  }
  return options;
}

}  // namespace
}  // namespace bench_kernels

int bench_kernels_main(int argc, char** argv) {
  using namespace bench_kernels;
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fputs(usage, stderr);
    return 2;
  }
  const Limits limits = measure_limits(*options);
  std::vector<Row> rows;
  for (auto* measure : {measure_gridrec, measure_iterative, measure_kmeans, measure_threads})
    for (Row& row : measure(*options)) rows.push_back(std::move(row));
  print_table(limits, rows);
  if (!options->svg.empty() && !write_roofline(options->svg, limits, rows)) {
    std::fprintf(stderr, "cannot write %s\n", options->svg.c_str());
    return 1;
  }
  return 0;
}
