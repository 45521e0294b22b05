#include "tests/bench/kernels/cases.hpp"
#include "tests/bench/kernels/peers.hpp"
#include "tests/bench/kernels/timing.hpp"

namespace bench_kernels {
namespace {

// A run of `few` and one of `many` iterations: the difference leaves out what is done once.
Row measure(int slices, double goal_ms, const Options& options) {
  constexpr int few = 1, many = 4;
  const Scan scan = make_scan(360, 512, slices);
  pk_iterative_desc desc;
  pk_iterative_desc_init(&desc, scan.angles, scan.columns, scan.theta.data());
  pk_iterative_plan* plan = nullptr;
  pk_iterative_scratch* scratch = nullptr;
  pk_iterative_plan_create(&desc, &plan, nullptr);
  const Owner<pk_iterative_plan> plan_owner(plan);
  pk_iterative_scratch_create(plan, &scratch, nullptr);
  const Owner<pk_iterative_scratch> scratch_owner(scratch);
  std::vector<float> image(std::size_t(slices) * 512 * 512);
  const auto run = [&](int iterations) {
    pk_iterative_run(plan, scratch, scan.sino.data(), nullptr, slices, iterations, 0, image.data(), nullptr,
                     nullptr, nullptr);
  };
  Row row;
  row.name = format("ML-EM 360x512, %d slice%s", slices, slices == 1 ? "" : "s");
  const Times short_run = cpu_times(row.name, options, [&] { run(few); }),
              long_run = cpu_times(row.name, options, [&] { run(many); });
  row.seconds = (long_run.median - short_run.median) / (many - few) / slices;
  row.least = (long_run.least - short_run.least) / (many - few) / slices;
  row.flops = 360.0 * 512 * 512 * 2 * 4;  // a sample forward and one back: a weight, a product and a sum each
  row.bytes = 4.0 * (360.0 * 512 + 2 * 512.0 * 512);
  row.shown = format("%.1f (%.1f) ms/it/slice", row.seconds * 1e3, row.least * 1e3);
  row.goal = format("<= %.0f", goal_ms);
  row.reached = row.seconds * 1e3 <= goal_ms;
  if (slices == 1) row.peer = tomopy_mlem(options, scan, row.seconds, "1156 ms");
  return row;
}

// The picture after 50 iterations, against TomoPy's after as many.
Row measure_quality(const Options& options) {
  constexpr int iterations = 50;  // TomoPy needs a minute for as many at 360 x 512
  const int angles = options.quick ? 180 : 360, columns = options.quick ? 256 : 512;
  const double recorded = options.quick ? 30.8 : 29.9;
  const Scan scan = make_scan(angles, columns, 1);
  pk_iterative_desc desc;
  pk_iterative_desc_init(&desc, angles, columns, scan.theta.data());
  pk_iterative_plan* plan = nullptr;
  pk_iterative_scratch* scratch = nullptr;
  pk_iterative_plan_create(&desc, &plan, nullptr);
  const Owner<pk_iterative_plan> plan_owner(plan);
  pk_iterative_scratch_create(plan, &scratch, nullptr);
  const Owner<pk_iterative_scratch> scratch_owner(scratch);
  std::vector<float> image(std::size_t(columns) * columns);
  pk_iterative_run(plan, scratch, scan.sino.data(), nullptr, 1, iterations, 0, image.data(), nullptr, nullptr,
                   nullptr);
  Row row;
  row.name = format("ML-EM %dx%d, %d iterations", angles, columns, iterations);
  const double ours = psnr(scan.truth, image.data(), columns, false);
  const std::vector<float> other = tomopy_mlem_image(options, scan, iterations);
  const double theirs = other.empty() ? recorded : psnr(scan.truth, other.data(), columns, false);
  row.shown = format("%.2f dB", ours);
  row.goal = format(">= %.1f", theirs);
  row.reached = ours >= theirs - 0.05;  // the same up to rounding
  row.peer = other.empty() ? format("TomoPy not here (recorded: %.1f dB)", recorded)
                           : format("TomoPy %.2f dB", theirs);
  return row;
}

}  // namespace

std::vector<Row> measure_iterative(const Options& options) {
  return {measure(1, 120, options), measure(8, 50, options), measure(16, 50, options),
          measure_quality(options)};
}

}  // namespace bench_kernels
