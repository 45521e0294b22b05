#include "miniapps/processors/end_watch.hpp"

namespace miniapps::processors {

namespace {
constexpr auto look_interval = std::chrono::milliseconds(200);
// A member that died keeps its partitions, and what it had not committed, until its session ends.
constexpr double patience_s = 3;
}  // namespace

EndWatch::EndWatch(EndConditions conditions, std::filesystem::path output, const pilot::Clock& clock)
    : conditions_(conditions), census_(std::move(output)), clock_(clock), start_(clock.steady()) {}

const std::set<std::string>& EndWatch::runs(const ProcessReport& report) {
  if (!report.runs.empty()) return report.runs;
  if (earlier_runs_.empty() && report.resumed_at_end && report.idle_s >= patience_s)
    earlier_runs_ = census_.runs();
  return earlier_runs_;
}

std::uint64_t EndWatch::counted(const ProcessReport& report) {
  return census_.blocks(runs(report)) + report.dead_letters;
}

std::optional<std::string> EndWatch::ended(const ProcessReport& report) {
  const auto now = clock_.steady();
  if (conditions_.count && (!last_look_ || now - *last_look_ >= look_interval)) {
    last_look_ = now;
    if (counted(report) >= *conditions_.count) return "count";
  }
  if (conditions_.until_idle &&
      std::chrono::duration<double>(*conditions_.until_idle).count() <= report.idle_s)
    return "idle";
  if (conditions_.duration && now - start_ >= *conditions_.duration) return "duration";
  return std::nullopt;
}

}  // namespace miniapps::processors
