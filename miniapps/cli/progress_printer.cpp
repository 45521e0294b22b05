#include "miniapps/cli/progress_printer.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "pilot/base/suggest.hpp"

namespace miniapps::cli {
namespace {

using namespace std::chrono_literals;

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
}

}  // namespace

pilot::Result<ProgressMode> parse_progress_mode(const std::string& text) {
  if (text == "auto") return ProgressMode::automatic;
  if (text == "json") return ProgressMode::json;
  if (text == "none") return ProgressMode::none;
  return pilot::make_error(pilot::ErrorCode::usage, fmt::format("--progress '{}'", text),
                           pilot::suggestion(text, {"auto", "json", "none"}));
}

ProgressPrinter::ProgressPrinter(ProgressMode mode, const pilot::Clock& clock)
    : mode_(mode),
      clock_(clock),
      terminal_(mode == ProgressMode::automatic && isatty(STDERR_FILENO) == 1),
      last_(clock.steady()) {}

ProgressPrinter::~ProgressPrinter() {
  finish();
}

bool ProgressPrinter::due() const {
  if (mode_ == ProgressMode::none) return false;
  const auto interval = json() ? 500ms : terminal_ ? 200ms : 5000ms;
  return clock_.steady() - last_ >= interval;
}

void ProgressPrinter::print(std::string_view text) {
  if (mode_ == ProgressMode::none) return;
  last_ = clock_.steady();
  if (!terminal_) {
    fmt::print(stderr, "{}\n", text);
    return;
  }
  fmt::print(stderr, "\r{}\x1b[K", text.substr(0, terminal_width() - 1));
  std::fflush(stderr);
  line_open_ = true;
}

void ProgressPrinter::finish() {
  if (line_open_) fmt::print(stderr, "\n");
  line_open_ = false;
}

double RecentRate::update(pilot::Duration elapsed, std::uint64_t count) {
  points_.emplace_back(elapsed, count);
  while (points_.size() > 2 && elapsed - points_[1].first >= 2s) points_.pop_front();
  const auto& [since, before] = points_.front();
  const double seconds = std::chrono::duration<double>(elapsed - since).count();
  if (seconds > 0) return static_cast<double>(count - before) / seconds;
  const double total = std::chrono::duration<double>(elapsed).count();
  return total > 0 ? static_cast<double>(count) / total : 0;
}

}  // namespace miniapps::cli
