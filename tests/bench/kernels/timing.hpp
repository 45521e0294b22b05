// One function timed by Google Benchmark: CPU time of this thread; median and least of the repetitions.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/bench/kernels/measurements.hpp"

namespace bench_kernels {

class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && !run.error_occurred)
        seconds.push_back((real ? run.real_accumulated_time : run.cpu_accumulated_time) /
                          double(run.iterations));
  }
  bool real = false;
  std::vector<double> seconds;
};

// Seconds.  Where others share the machine the median is theirs as well; the least is nearly ours alone.
struct Times {
  double median = 0, least = 0;
  Times per(double count) const { return {median / count, least / count}; }
};

template <typename Body>
Times time_of(const std::string& name, const Options& options, Body body, bool real) {
  constexpr int repetitions = 7;
  std::fprintf(stderr, "measuring %s\n", name.c_str());
  benchmark::ClearRegisteredBenchmarks();
  auto* registered = benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) {
    for (auto _ : state) body();
  });
  registered->Repetitions(repetitions)->MinTime((options.quick ? 0.2 : 1.0) * options.seconds / repetitions);
  if (real) registered->UseRealTime();
  Collector collector;
  collector.real = real;
  benchmark::RunSpecifiedBenchmarks(&collector);
  std::sort(collector.seconds.begin(), collector.seconds.end());
  if (collector.seconds.empty()) return {};
  return {collector.seconds[collector.seconds.size() / 2], collector.seconds.front()};
}

template <typename Body>
Times cpu_times(const std::string& name, const Options& options, Body body) {
  return time_of(name, options, body, false);
}
template <typename Body>
Times wall_times(const std::string& name, const Options& options, Body body) {
  return time_of(name, options, body, true);
}

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace bench_kernels
