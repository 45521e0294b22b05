#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <span>

#include "miniapps/generators/scan.hpp"
#include "tests/bench/kernels/cases.hpp"
#include "tests/bench/kernels/peers.hpp"
#include "tests/bench/kernels/timing.hpp"

namespace bench_kernels {

std::string format(const char* pattern, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

Scan make_scan(int angles, int columns, int slices) {
  using namespace miniapps::generators;
  Scan scan{angles, columns, slices, even_angles(angles, 3.14159265358979323846), {}, {}};
  const Section section = section_at(shepp_logan(), 0);
  std::vector<float> one(std::size_t(angles) * columns);
  sinogram(section, 0.95 * columns / 2, scan.theta, (columns - 1) / 2.0, columns, one);
  for (int s = 0; s < slices; ++s)
    for (float v : one) scan.sino.push_back(v * (1 + 0.1f * static_cast<float>(s)));
  scan.truth.resize(std::size_t(columns) * columns);
  rasterize(section, 0.95 * columns / 2, columns, 4, scan.truth);
  return scan;
}

double psnr(const std::vector<float>& truth, const float* image, int size, bool fit) {
  double n = 0, a = 0, b = 0, aa = 0, ab = 0;
  const auto inside = [&](int i) {
    return std::hypot(i % size + 0.5 - size / 2.0, i / size + 0.5 - size / 2.0) <= size / 2.0;
  };
  for (int i = 0; i < size * size; ++i) {
    if (!inside(i)) continue;
    n += 1, a += image[i], b += truth[i], aa += double(image[i]) * image[i],
        ab += double(image[i]) * truth[i];
  }
  const double scale = fit ? (n * ab - a * b) / (n * aa - a * a) : 1, offset = fit ? (b - scale * a) / n : 0;
  double error = 0;
  for (int i = 0; i < size * size; ++i)
    if (inside(i)) error += std::pow(scale * image[i] + offset - truth[i], 2);
  return -10 * std::log10(error / n);
}

namespace {

struct Case {
  int angles, columns, slices;
  double padding, oversampling, goal_ms, goal_fit, goal_raw;
  const char *title, *recorded;  // recorded: TomoPy's time where the goals were set
};

double useful_flops(int angles, int transform, int grid) {
  // Transforms of the rows and of the grid, and the spreading of 25 complex taps per sample.
  const double row = 2.5 * transform * std::log2(transform);
  return angles * (row + 0.5 * grid * 25 * 4) + 2.5 * double(grid) * grid * std::log2(double(grid) * grid);
}

Row measure(const Case& c, const Options& options) {
  const Scan scan = make_scan(c.angles, c.columns, c.slices);
  pk_gridrec_desc desc;
  pk_gridrec_desc_init(&desc, c.angles, c.columns, scan.theta.data());
  desc.padding = c.padding;
  desc.oversampling = c.oversampling;
  pk_gridrec_plan* plan = nullptr;
  pk_gridrec_scratch* scratch = nullptr;
  pk_gridrec_plan_create(&desc, &plan, nullptr);
  const Owner<pk_gridrec_plan> plan_owner(plan);
  pk_gridrec_scratch_create(plan, c.slices, &scratch, nullptr);
  const Owner<pk_gridrec_scratch> scratch_owner(scratch);
  std::vector<float> image(std::size_t(c.slices) * c.columns * c.columns);
  int transform = 0, grid = 0;
  pk_gridrec_plan_shape(plan, nullptr, nullptr, &transform, &grid);

  Row row;
  row.name = format("GridRec %dx%d %s", c.angles, c.columns, c.title);
  const Times times =
      cpu_times(row.name, options, [&] {
        pk_gridrec_run(plan, scratch, scan.sino.data(), nullptr, c.slices, image.data(), nullptr);
      }).per(c.slices);
  row.seconds = times.median;
  row.least = times.least;
  row.flops = useful_flops(c.angles, transform, grid);
  row.bytes = 4.0 * (double(c.angles) * c.columns + double(c.columns) * c.columns);
  const double fit = psnr(scan.truth, image.data(), c.columns, true),
               raw = psnr(scan.truth, image.data(), c.columns, false);
  row.shown = format("%.2f (%.2f) ms/slice", row.seconds * 1e3, row.least * 1e3);
  row.goal = c.goal_ms > 0 ? format("<= %.1f", c.goal_ms) : "";
  row.quality = format("fit %.1f dB, raw %.1f dB", fit, raw);
  row.reached = (c.goal_ms <= 0 || row.seconds * 1e3 <= c.goal_ms) && fit >= c.goal_fit && raw >= c.goal_raw;
  row.peer = tomopy_gridrec(options, scan, c.padding >= 2, row.seconds, c.recorded);
  return row;
}

}  // namespace

std::vector<Row> measure_gridrec(const Options& options) {
  std::vector<Row> rows;
  rows.push_back(measure({360, 512, 8, 1, 0, 1.6, 0, 0, "unpadded", "5.98 ms"}, options));
  rows.push_back(measure({360, 512, 8, 2, 0, 4.2, 36.4, 30, "padded 2x", "19.4 ms"}, options));
  rows.push_back(measure({360, 512, 8, 2, 2, 4.2, 36.4, 30, "padded 2x, grid 2x", "19.4 ms"}, options));
  rows.push_back(measure({181, 640, 2, 2, 0, 3.0, 0, 0, "padded 2x, pair", "17.1 ms unpadded"}, options));
  if (!options.quick) rows.push_back(measure({1440, 2048, 8, 1, 0, 40, 0, 0, "unpadded", "155 ms"}, options));
  return rows;
}

// The block of the tooth scan's size; its two slices differ as neighbours do.
std::vector<Row> measure_centre(const Options& options) {
  using namespace miniapps::generators;
  ScanSpec spec;
  spec.columns = 640;
  spec.angles = 181;
  spec.slices = 2;
  spec.centre = 296.2;
  spec.radius = 0.8;
  const miniapps::generators::Scan made(spec);
  std::vector<float> sino(2 * 181 * 640);
  for (int s = 0; s < 2; ++s) made.line_integrals(s, 0, std::span(sino).subspan(s * 181 * 640, 181 * 640));
  double centre = 0;
  Row row;
  row.name = "Centre 181x640, 2 slices";
  const Times times = cpu_times(row.name, options, [&] {
    pk_find_centre(sino.data(), made.theta().data(), 2, 181, 640, NAN, 0, &centre, nullptr);
  });
  row.seconds = times.median;
  row.least = times.least;
  row.shown = format("%.1f (%.1f) ms", row.seconds * 1e3, row.least * 1e3);
  row.goal = "<= 20";
  row.quality = format("%.3f bins off", std::abs(centre - spec.centre));
  row.reached = row.seconds <= 0.02 && std::abs(centre - spec.centre) < 0.05;
  row.peer = "TomoPy's find_center (recorded: 602 ms)";
  return {row};
}

}  // namespace bench_kernels
