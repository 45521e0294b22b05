#include "miniapps/processors/process_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace miniapps::processors {

namespace {

double seconds(pilot::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::int64_t unix_milliseconds(pilot::WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

ProcessMetrics::ProcessMetrics(ProcessReport base, std::size_t workers, const pilot::Clock& clock,
                               pilot::Duration join_limit)
    : clock_(clock),
      start_(clock.steady()),
      counted_(std::move(base)),
      last_event_(start_ + join_limit),
      last_result_(start_) {
  counted_.started_unix_ms = unix_milliseconds(clock.wall());
  for (std::size_t i = 0; i < workers; ++i) counted_.workers.push_back({.name = fmt::format("{}", i)});
}

void ProcessMetrics::joined() {
  const std::lock_guard lock(mutex_);
  last_event_ = clock_.steady();
  at_end_ = false;
}

void ProcessMetrics::received() {
  const std::lock_guard lock(mutex_);
  last_event_ = clock_.steady();
  at_end_ = false;
  if (!first_message_) first_message_ = last_event_;
}

void ProcessMetrics::quiet(bool at_end, bool resumed_at_end) {
  const std::lock_guard lock(mutex_);
  at_end_ = at_end;
  counted_.resumed_at_end = resumed_at_end;
}

void ProcessMetrics::count_second(std::uint64_t bytes) {
  const auto second = static_cast<std::size_t>(std::max(0.0, seconds(clock_.steady() - start_)));
  for (auto* series : {&counted_.messages_per_second, &counted_.bytes_per_second})
    if (series->size() <= second) series->resize(second + 1);
  ++counted_.messages_per_second[second];
  counted_.bytes_per_second[second] += bytes;
}

void ProcessMetrics::handled(const Handled& message) {
  const std::lock_guard lock(mutex_);
  auto& c = counted_;
  ++c.messages;
  c.bytes += message.bytes;
  c.stored += message.outcome == Outcome::stored;
  c.duplicates += message.outcome == Outcome::duplicate;
  c.dead_letters +=
      message.outcome == Outcome::dead_letter || message.outcome == Outcome::dead_letter_not_kept;
  c.dead_letters_not_kept += message.outcome == Outcome::dead_letter_not_kept;
  c.result_bytes += message.result_bytes;
  auto& worker = c.workers.at(message.worker);
  ++worker.messages;
  worker.bytes += message.bytes;
  worker.busy_s += seconds(message.busy);
  worker.cpu_s += seconds(message.cpu);
  count_second(message.bytes);
  last_result_ = clock_.steady();
  if (!message.run_id.empty()) c.runs.insert(message.run_id);
  // A repeat is as old as the crash that caused it: not a latency of this processor.
  if (message.source_time && message.outcome == Outcome::stored)
    c.latency.record(clock_.wall() - *message.source_time);
}

ProcessReport ProcessMetrics::report(std::size_t in_flight, std::int64_t lag) const {
  const std::lock_guard lock(mutex_);
  auto report = counted_;
  const auto now = clock_.steady();
  report.elapsed_s = seconds(now - start_);
  if (first_message_) report.active_s = std::max(0.0, seconds(last_result_ - *first_message_));
  const bool waiting = in_flight == 0 && (at_end_ || !first_message_);
  report.idle_s = waiting ? std::max(0.0, seconds(now - std::max(last_event_, last_result_))) : 0;
  report.in_flight = in_flight;
  report.lag = lag;
  return report;
}

}  // namespace miniapps::processors
