// Charts as inline SVG.  Colours, fonts and line widths come from the page's style sheet by class, so one
// chart serves light and dark.
#pragma once

#include <string>
#include <vector>

namespace miniapps::campaign {

// Text that is safe inside HTML and SVG, elements and quoted attributes.
std::string escape(const std::string& text);

// Round numbers from 0 to at least `largest`, about `count` steps: 1, 2 or 5 times a power of ten apart.
std::vector<double> ticks_to(double largest, int count);

struct Line {
  std::string name;
  std::string style;           // class of the line
  double start_s = 0;          // of the first value
  std::vector<double> values;  // one per second, the mean of that second
};

struct Level {  // a horizontal line: a mean, a goal
  std::string name;
  std::string style;
  double value = 0;
};

// Values over seconds, from 0.
std::string line_chart(const std::vector<Line>& lines, const std::vector<Level>& levels,
                       const std::string& unit, const std::string& description);

struct Bin {
  double low = 0, high = 0;
  double count = 0;
};
struct Mark {
  std::string name;
  double value = 0;
};

// Counts over a logarithmic axis of milliseconds, with marks (percentiles).
std::string log_histogram(const std::vector<Bin>& bins, const std::vector<Mark>& marks,
                          const std::string& description);

}  // namespace miniapps::campaign
