#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

#include "miniapps/kernels/kernels.h"
#include "tests/bench/kernels/timing.hpp"

namespace bench_kernels {
namespace {

// Logarithmic axes of the roofline.
struct Axes {
  double x_low = 0.1, x_high = 1000, y_low = 0.5, y_high = 500;
  double left = 70, right = 860, top = 40, bottom = 480;
  double x(double v) const { return left + (right - left) * std::log(v / x_low) / std::log(x_high / x_low); }
  double y(double v) const {
    return bottom - (bottom - top) * std::log(v / y_low) / std::log(y_high / y_low);
  }
};

void draw_grid(std::ofstream& out, const Axes& axes) {
  for (double v = 0.1; v <= 1000; v *= 10)
    out << format(
        "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='grid'/><text x='%.1f' y='%.1f' "
        "class='mid'>%g</text>\n",
        axes.x(v), axes.x(v), axes.top, axes.bottom, axes.x(v), axes.bottom + 18, v);
  for (double v = 1; v <= 100; v *= 10)
    out << format(
        "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='grid'/><text x='%.1f' y='%.1f' "
        "class='end'>%g</text>\n",
        axes.left, axes.right, axes.y(v), axes.y(v), axes.left - 8, axes.y(v) + 4, v);
}

// The roof of one memory level: bandwidth times intensity up to the arithmetic limit.
void draw_roof(std::ofstream& out, const Axes& axes, double gbytes, double gflops, const char* name,
               const char* kind) {
  const double ridge = gflops / gbytes, start = std::max(axes.x_low, axes.y_low / gbytes);
  out << format("<polyline points='%.1f,%.1f %.1f,%.1f %.1f,%.1f' class='%s'/>\n", axes.x(start),
                axes.y(gbytes * start), axes.x(ridge), axes.y(gflops), axes.right, axes.y(gflops), kind);
  const double at = std::sqrt(start * ridge);
  out << format("<text x='%.1f' y='%.1f' class='%st'>%s %.0f GB/s</text>\n", axes.x(at) + 12,
                axes.y(gbytes * at) + 14, kind, name, gbytes);
}

// Dots with numbers, and the list of them; a number that another would cover stands below its dot.
void draw_kernels(std::ofstream& out, const Axes& axes, const std::vector<Row>& rows) {
  std::vector<std::pair<double, double>> taken;
  for (const Row& row : rows) {
    if (row.flops <= 0 || row.least <= 0) continue;
    const double x = axes.x(row.flops / row.bytes), y = axes.y(row.flops / row.least * 1e-9);
    bool covered = false;
    for (const auto& [other_x, other_y] : taken)
      covered = covered || (std::abs(x - other_x) < 18 && std::abs(y - other_y) < 14);
    taken.emplace_back(x, y);
    const int number = static_cast<int>(taken.size());
    out << format("<circle cx='%.1f' cy='%.1f' r='4.5' class='dot'/><text x='%.1f' y='%.1f'>%d</text>\n", x,
                  y, x + 7, covered ? y + 16 : y - 6, number);
    out << format("<text x='872' y='%d' font-size='12'>%d  %s</text>\n", 48 + 20 * number, number,
                  row.name.c_str());
  }
}

}  // namespace

void print_table(const Limits& limits, const std::vector<Row>& rows,
                 const std::vector<std::string>& left_out) {
  std::printf(
      "limits of one core (best repetition), instruction set %s: FMA %.0f GFLOP/s, triad %.1f GB/s (192 "
      "MiB), "
      "%.0f GB/s (768 KiB)\n",
      pk_isa(), limits.fma_gflops, limits.triad_gbytes, limits.triad_l2_gbytes);
  std::printf("512-point transforms, batches: ours %.0f GFLOP/s, FFTW (measured plan) %s, KissFFT %s\n\n",
              limits.own_fft_gflops,
              limits.fftw_gflops > 0 ? format("%.0f", limits.fftw_gflops).c_str() : "not installed",
              limits.kissfft_gflops > 0 ? format("%.0f", limits.kissfft_gflops).c_str() : "not installed");
  std::printf("%-36s %-28s %-8s %-5s %-42s %s\n", "kernel", "median (best repetition)", "goal", "", "peer",
              "quality");
  for (const Row& row : rows)
    std::printf("%-36s %-28s %-8s %-5s %-42s %s\n", row.name.c_str(), row.shown.c_str(), row.goal.c_str(),
                row.goal.empty() ? ""
                : row.reached    ? "ok"
                                 : "MISS",
                row.peer.c_str(), row.quality.c_str());
  for (const std::string& reason : left_out) std::printf("left out: %s\n", reason.c_str());
}

bool write_roofline(const std::string& path, const Limits& limits, const std::vector<Row>& rows) {
  std::ofstream out(path);
  const Axes axes;
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1120 540' font-family='sans-serif' "
         "font-size='13'>\n"
         "<style>.grid{stroke:#ddd}.ram,.l2{fill:none;stroke-width:2}.ram{stroke:#205a9e}.l2{stroke:#7a9cc4;"
         "stroke-dasharray:6 4}"
         ".fft{stroke:#999;stroke-dasharray:2 "
         "4}.ramt{fill:#205a9e}.l2t{fill:#5d7ea6}.mid{text-anchor:middle}.end{text-anchor:end}.dot{fill:#"
         "c8102e}</style>\n"
         "<rect width='1120' height='540' fill='white'/>\n";
  draw_grid(out, axes);
  draw_roof(out, axes, limits.triad_gbytes, limits.fma_gflops, "memory", "ram");
  draw_roof(out, axes, limits.triad_l2_gbytes, limits.fma_gflops, "second cache", "l2");
  out << format("<text x='%.1f' y='%.1f' class='end'>FMA %.0f GFLOP/s (%s)</text>\n", axes.right - 4,
                axes.y(limits.fma_gflops) - 6, limits.fma_gflops, pk_isa());
  out << format("<text x='%.1f' y='525' class='mid'>useful operations per byte of input and output</text>\n",
                (axes.left + axes.right) / 2);
  out << "<text x='16' y='24'>GFLOP/s of one core</text>\n";
  out << format("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='fft'/>\n", axes.left, axes.right,
                axes.y(limits.own_fft_gflops), axes.y(limits.own_fft_gflops));
  out << format("<text x='%.1f' y='%.1f' class='end'>transforms %.0f GFLOP/s</text>\n", axes.right - 4,
                axes.y(limits.own_fft_gflops) - 6, limits.own_fft_gflops);
  draw_kernels(out, axes, rows);
  out << "</svg>\n";
  return static_cast<bool>(out.flush());
}

}  // namespace bench_kernels
