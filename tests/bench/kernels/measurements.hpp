// What the benchmark of the kernels measures and how it is shown.
#pragma once

#include <string>
#include <vector>

namespace bench_kernels {

struct Options {
  std::string tomopy_library;                // libtomo with gridrec() and osem(); empty: that of the python
  std::string python = "python3";            // asked for TomoPy and scikit-learn; empty: no peers
  std::string only;                          // a kernel's name; empty: all
  std::string svg = "kernels-roofline.svg";  // where the roofline goes; empty: nowhere
  bool quick = false;                        // fewer repetitions, no 2048
  double seconds = 0.5;                      // per kernel
};

// One row of the table.
struct Row {
  std::string name;
  double seconds = 0;  // CPU seconds per unit (slice, iteration and slice, batch), median
  double least = 0;    // the same, least of the repetitions
  double flops = 0;    // per unit, the useful ones
  double bytes = 0;    // per unit, input and output once
  std::string shown;   // the measured value in the row's own unit, the best repetition in brackets
  std::string goal;    // in the same unit
  bool reached = true;
  std::string peer;     // name, value and ratio, or why there is none
  std::string quality;  // checked together with the time
};

// Limits of one core: the best repetition.
struct Limits {
  double fma_gflops = 0;
  double triad_gbytes = 0;     // 64 MiB arrays, three streams
  double triad_l2_gbytes = 0;  // 768 KiB
  double own_fft_gflops = 0;   // batches of 512-point complex transforms
  double fftw_gflops = 0;      // 0: not installed
  double kissfft_gflops = 0;
};

Limits measure_limits(const Options& options);
std::vector<Row> measure_gridrec(const Options& options);
std::vector<Row> measure_centre(const Options& options);
std::vector<Row> measure_iterative(const Options& options);
std::vector<Row> measure_kmeans(const Options& options);
std::vector<Row> measure_threads(const Options& options);

// left_out: why peers are missing, one sentence each.
void print_table(const Limits& limits, const std::vector<Row>& rows,
                 const std::vector<std::string>& left_out);
// False if the file can't be written.
bool write_roofline(const std::string& path, const Limits& limits, const std::vector<Row>& rows);

}  // namespace bench_kernels
