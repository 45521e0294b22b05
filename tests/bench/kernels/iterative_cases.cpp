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
  const double short_run = cpu_seconds(row.name, options, [&] { run(few); });
  row.seconds = (cpu_seconds(row.name, options, [&] { run(many); }) - short_run) / (many - few) / slices;
  row.flops = 360.0 * 512 * 512 * 2 * 4;  // a sample forward and one back: a weight, a product and a sum each
  row.bytes = 4.0 * (360.0 * 512 + 2 * 512.0 * 512);
  row.shown = format("%.1f ms/it/slice", row.seconds * 1e3);
  row.goal = format("<= %.0f", goal_ms);
  row.reached = row.seconds * 1e3 <= goal_ms;
  if (slices == 1) {
    row.peer = tomopy_mlem(options, scan, row.seconds);
    run(options.quick ? 10 : 50);
    row.quality = format("raw %.1f dB after %d iterations", psnr(scan.truth, image.data(), 512, false),
                         options.quick ? 10 : 50);
  }
  return row;
}

}  // namespace

std::vector<Row> measure_iterative(const Options& options) {
  return {measure(1, 120, options), measure(8, 50, options)};
}

}  // namespace bench_kernels
