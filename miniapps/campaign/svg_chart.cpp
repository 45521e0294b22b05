#include "miniapps/campaign/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace miniapps::campaign {

namespace {

// The drawing's size and where the axes stand in it; the page scales it to its column.
constexpr double width = 560, height = 250, left = 48, right = 548, top = 26, bottom = 216;

std::string number(double value) {
  if (value == 0) return "0";
  return value >= 100 || value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                    : fmt::format("{:.3g}", value);
}

std::string duration(double ms) {
  if (ms >= 1000) return number(ms / 1000) + " s";
  if (ms < 1) return number(ms * 1000) + " µs";
  return number(ms) + " ms";
}

class Drawing {
 public:
  explicit Drawing(const std::string& description) {
    text_ = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\"><title>{}</title>\n", width, height,
                        escape(description));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    text_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                         style, x1, y1, x2, y2);
  }
  void label(double x, double y, std::string_view style, const std::string& text) {
    text_ +=
        fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", style, x, y, escape(text));
  }
  void bar(double x, double y, double w, double h, const std::string& tip) {
    text_ += fmt::format(
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"><title>{}</title></rect>\n",
        x, y, w, h, escape(tip));
  }
  void path(const std::string& points, const std::string& style) {
    text_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style, points);
  }
  // A short stroke and a name above the chart; returns where the next one goes.
  double legend(double x, const std::string& style, const std::string& name) {
    line(x, 10, x + 16, 10, style);
    label(x + 22, 14, "legend", name);
    return x + 40 + 6.6 * static_cast<double>(name.size());
  }
  std::string finish() && { return std::move(text_) + "</svg>\n"; }

 private:
  std::string text_;
};

// Horizontal grid with numbers; returns the value at the top.
double draw_value_axis(Drawing& drawing, double largest, const std::string& unit) {
  const auto ticks = ticks_to(largest, 4);
  const double most = ticks.back();
  for (double tick : ticks) {
    const double y = bottom - (bottom - top) * tick / most;
    drawing.line(left, y, right, y, tick == 0 ? "axis" : "grid");
    drawing.label(left - 6, y + 4, "tick end", number(tick));
  }
  if (!unit.empty()) drawing.label(right, 14, "tick end", unit);
  return most;
}

double largest_of(const std::vector<Line>& lines, const std::vector<Level>& levels) {
  double largest = 0;
  for (const auto& line : lines)
    for (double value : line.values) largest = std::max(largest, value);
  for (const auto& level : levels) largest = std::max(largest, level.value);
  return largest;
}

double end_of(const std::vector<Line>& lines) {
  double end = 1;
  for (const auto& line : lines) end = std::max(end, line.start_s + static_cast<double>(line.values.size()));
  return end;
}

}  // namespace

std::string escape(const std::string& text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::vector<double> ticks_to(double largest, int count) {
  if (!(largest > 0) || !std::isfinite(largest)) largest = 1;
  const double rough = largest / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  std::vector<double> ticks;
  for (int i = 0; ticks.empty() || ticks.back() < largest * 0.999; ++i) ticks.push_back(i * step);
  return ticks;
}

std::string line_chart(const std::vector<Line>& lines, const std::vector<Level>& levels,
                       const std::string& unit, const std::string& description) {
  Drawing drawing(description);
  const double most = draw_value_axis(drawing, largest_of(lines, levels), unit);
  const double end = end_of(lines);
  const auto x_of = [&](double second) { return left + (right - left) * second / end; };
  const auto y_of = [&](double value) { return bottom - (bottom - top) * value / most; };
  for (double tick : ticks_to(end, 6))
    if (tick <= end) drawing.label(x_of(tick), bottom + 18, "tick middle", number(tick));
  drawing.label(right, bottom + 32, "tick end", "seconds");
  double next = left;
  for (const auto& level : levels) {
    drawing.line(left, y_of(level.value), right, y_of(level.value), level.style + " level");
    next = drawing.legend(next, level.style + " level", level.name);
  }
  for (const auto& line : lines) {
    // Steps: a value is the mean of its whole second.
    std::string points;
    for (std::size_t i = 0; i < line.values.size(); ++i) {
      const double from = line.start_s + static_cast<double>(i);
      points += fmt::format("{}{:.1f} {:.1f}H{:.1f}", i == 0 ? "M" : "L", x_of(from), y_of(line.values[i]),
                            x_of(from + 1));
    }
    if (!points.empty()) drawing.path(points, "line " + line.style);
    next = drawing.legend(next, "line " + line.style, line.name);
  }
  return std::move(drawing).finish();
}

std::string log_histogram(const std::vector<Bin>& bins, const std::vector<Mark>& marks,
                          const std::string& description) {
  Drawing drawing(description);
  if (bins.empty()) return std::move(drawing).finish();
  double largest = 0;
  for (const auto& bin : bins) largest = std::max(largest, bin.count);
  const double most = draw_value_axis(drawing, largest, "messages");
  // Decades around the data, but not wider than needed: round down and up to 1, 2 or 5.
  const double low = std::log10(std::max(bins.front().low, 1e-6)), high = std::log10(bins.back().high);
  const double margin = std::max(0.05, (0.6 - (high - low)) / 2);
  const double first = low - margin, last = high + margin;
  const auto x_of = [&](double ms) {
    return left +
           (right - left) * std::clamp((std::log10(std::max(ms, 1e-6)) - first) / (last - first), 0.0, 1.0);
  };
  for (double decade = std::floor(first); decade <= last; ++decade)
    for (double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, decade), at = std::log10(tick);
      if (at < first || at > last || (factor != 1 && last - first > 2.5)) continue;
      drawing.line(x_of(tick), bottom, x_of(tick), bottom + 4, "axis");
      drawing.label(x_of(tick), bottom + 18, "tick middle", duration(tick));
    }
  for (const auto& bin : bins) {
    const double x = x_of(bin.low), w = std::max(1.0, x_of(bin.high) - x - 1);
    const double h = (bottom - top) * bin.count / most;
    drawing.bar(x, bottom - h, w, h,
                fmt::format("{} to {}: {:.0f} messages", duration(bin.low), duration(bin.high), bin.count));
  }
  double row = 0;
  for (const auto& mark : marks) {
    const double x = x_of(mark.value);
    drawing.line(x, top - 4, x, bottom, "mark");
    const bool flip = x > right - 90;
    drawing.label(flip ? x - 4 : x + 4, top + 4 + 13 * row++, flip ? "tick end" : "tick",
                  mark.name + " " + duration(mark.value));
  }
  return std::move(drawing).finish();
}

}  // namespace miniapps::campaign
