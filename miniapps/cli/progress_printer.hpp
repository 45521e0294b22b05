// Progress on standard error: one line, written over and over, on a terminal; a new line every five
// seconds elsewhere; lines of JSON for programs.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <string_view>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::cli {

enum class ProgressMode { automatic, json, none };

// "auto", "json", "none".  Errors: usage.
pilot::Result<ProgressMode> parse_progress_mode(const std::string& text);

class ProgressPrinter {
 public:
  ProgressPrinter(ProgressMode mode, const pilot::Clock& clock);
  ~ProgressPrinter();  // ends a rewritten line
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  // Is it time to print?  Ask before making the text.
  bool due() const;
  bool json() const { return mode_ == ProgressMode::json; }
  // Prints text for people, or a line of JSON, as the mode wants it.
  void print(std::string_view text);
  // Ends a rewritten line, so that something else can be printed.
  void finish();

 private:
  ProgressMode mode_;
  const pilot::Clock& clock_;
  bool terminal_;
  bool line_open_ = false;
  pilot::SteadyTime last_;
};

// How many per second lately: over the last two seconds.
class RecentRate {
 public:
  double update(pilot::Duration elapsed, std::uint64_t count);

 private:
  std::deque<std::pair<pilot::Duration, std::uint64_t>> points_;
};

}  // namespace miniapps::cli
