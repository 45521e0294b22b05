#include "miniapps/sources/light_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "miniapps/sources/rate_schedule.hpp"
#include "pilot/base/random.hpp"

namespace miniapps::sources {
namespace {

using std::chrono::milliseconds;

constexpr pilot::Duration progress_interval = milliseconds(100);
constexpr pilot::Duration full_queue_wait = milliseconds(10);

class Run {
 public:
  Run(transports::Producer& producer, ScanFrames& frames, const LightSourceOptions& options,
      const std::atomic<int>& stop_signal, const pilot::Clock& clock, const OnProgress& on_progress)
      : producer_(producer),
        frames_(frames),
        options_(options),
        stop_signal_(stop_signal),
        clock_(clock),
        on_progress_(on_progress),
        start_(clock.steady()),
        schedule_(options.per_second, start_) {}

  // Sends until the end or a reason to stop.
  void send_all();
  // Waits for the acknowledgements.
  void flush();
  void fill(SourceReport& report) const;

 private:
  bool stopped() const { return stop_signal_.load() != 0 || error_ || producer_.failure(); }
  bool time_is_up() const { return options_.duration && elapsed() >= *options_.duration; }
  bool finished() const {
    return stopped() || time_is_up() || (options_.count > 0 && sent_ >= options_.count);
  }
  pilot::Duration elapsed() const { return clock_.steady() - start_; }

  void wait_until_due();
  void send_next();
  bool hand_over(const transports::SharedBuffer& message, std::uint32_t block, std::uint64_t scan_id);
  void poll(pilot::Duration limit);
  void tell(bool now);
  std::optional<pilot::Duration> time_left() const;

  transports::Producer& producer_;
  ScanFrames& frames_;
  const LightSourceOptions& options_;
  const std::atomic<int>& stop_signal_;
  const pilot::Clock& clock_;
  const OnProgress& on_progress_;
  pilot::SteadyTime start_;
  RateSchedule schedule_;
  std::uint64_t sent_ = 0;
  bool flushing_ = false;
  pilot::Duration max_lag_{0};
  pilot::Duration total_{0};
  pilot::SteadyTime last_told_{};
  std::optional<pilot::Error> error_;
};

void Run::send_all() {
  while (!finished()) {
    wait_until_due();
    if (!finished()) send_next();
  }
}

void Run::wait_until_due() {
  const auto due = schedule_.due(sent_);
  while (!finished()) {
    const auto left = due - clock_.steady();
    if (left <= pilot::Duration{0}) break;
    poll(std::min(left, progress_interval));
  }
}

void Run::send_next() {
  max_lag_ = std::max(max_lag_, schedule_.lag(sent_, clock_.steady()));
  const auto block = static_cast<std::uint32_t>(sent_ % frames_.blocks());
  const std::uint64_t scan_id = options_.first_scan_id + sent_ / frames_.blocks();
  const auto now = static_cast<std::uint64_t>(clock_.wall().time_since_epoch().count());
  auto message = frames_.take(block, sent_, scan_id, now);
  if (!message) {
    error_ = message.error();
    return;
  }
  while (!hand_over(message.value(), block, scan_id)) {
    if (stopped()) return;
    poll(full_queue_wait);
  }
  tell(false);
}

bool Run::hand_over(const transports::SharedBuffer& message, std::uint32_t block, std::uint64_t scan_id) {
  const std::string key = fmt::format("{}/{}", scan_id, frames_.first_slice(block));
  const auto accepted = producer_.send(message, key, sent_);
  if (!accepted) {
    error_ = accepted.error();
    return false;
  }
  if (accepted.value()) ++sent_;
  return accepted.value();
}

void Run::poll(pilot::Duration limit) {
  producer_.poll(limit);
  tell(false);
}

void Run::flush() {
  flushing_ = true;
  const pilot::Deadline deadline(clock_, options_.flush_timeout);
  while (producer_.counts().queued > 0 && !deadline.passed())
    poll(std::min(progress_interval, deadline.left()));
  total_ = elapsed();
  if (!error_) error_ = producer_.failure();
  if (const auto left = producer_.flush(pilot::Duration{0}); !left && !error_) error_ = left.error();
  tell(true);
}

std::optional<pilot::Duration> Run::time_left() const {
  std::optional<pilot::Duration> left;
  if (options_.duration) left = std::max(pilot::Duration{0}, *options_.duration - elapsed());
  if (options_.count == 0) return left;
  std::optional<pilot::Duration> by_count;
  if (options_.per_second > 0)
    by_count = std::max(pilot::Duration{0}, schedule_.due(options_.count) - clock_.steady());
  const auto acked = producer_.counts().acked;
  if (acked > 0 && options_.count >= acked) {
    const double ratio = static_cast<double>(options_.count - acked) / static_cast<double>(acked);
    const auto at_this_pace = std::chrono::duration_cast<pilot::Duration>(elapsed() * ratio);
    by_count = std::max(by_count.value_or(at_this_pace), at_this_pace);
  }
  if (!left || !by_count) return left ? left : by_count;
  return std::min(*left, *by_count);
}

void Run::tell(bool now) {
  const auto time = clock_.steady();
  if (!on_progress_ || (!now && time - last_told_ < progress_interval)) return;
  last_told_ = time;
  const auto counts = producer_.counts();
  SourceProgress progress;
  progress.wanted = options_.count;
  progress.sent = sent_;
  progress.acked = counts.acked;
  progress.acked_bytes = counts.acked_bytes;
  progress.queued = counts.queued;
  progress.elapsed = elapsed();
  progress.lag = flushing_ ? pilot::Duration{0} : schedule_.lag(sent_, time);
  progress.left = time_left();
  progress.flushing = flushing_;
  on_progress_(progress);
}

void Run::fill(SourceReport& report) const {
  const auto counts = producer_.counts();
  report.sent = sent_;
  report.acked = counts.acked;
  report.acked_bytes = counts.acked_bytes;
  report.failed = counts.failed;
  report.elapsed = total_;
  report.max_lag = max_lag_;
  report.signal = stop_signal_.load();
  report.error = error_;
}

}  // namespace

SourceReport run_light_source(transports::Producer& producer, ScanFrames& frames, const RunId& run_id,
                              const LightSourceOptions& options, const std::atomic<int>& stop_signal,
                              const pilot::Clock& clock, const OnProgress& on_progress) {
  Run run(producer, frames, options, stop_signal, clock, on_progress);
  run.send_all();
  run.flush();

  SourceReport report;
  report.run_id = to_string(run_id);
  report.topic = options.topic;
  report.shape = frames.description().shape;
  report.dtype = frames.description().dtype == formats::DataType::u16 ? "u16" : "f32";
  report.blocks_per_scan = frames.blocks();
  report.message_bytes = frames.message_bytes();
  report.wanted_rate = options.per_second;
  report.wanted = options.count;
  run.fill(report);
  if (options.duration && report.sent < report.wanted && report.elapsed >= *options.duration)
    report.wanted = report.sent;  // the duration ended it, as it was told to
  return report;
}

RunId random_run_id() {
  const std::string digits = pilot::random_hex(static_cast<int>(RunId{}.size()));
  RunId id;
  for (std::size_t i = 0; i < id.size(); ++i)
    id[i] = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  return id;
}

std::string to_string(const RunId& run_id) {
  return fmt::format("{:02x}", fmt::join(run_id, ""));
}

}  // namespace miniapps::sources
