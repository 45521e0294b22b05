#include "miniapps/processors/process_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "pilot/base/units.hpp"

namespace miniapps::processors {

namespace {

template <typename T>
void add_series(std::vector<T>& to, const std::vector<T>& from, std::size_t shift) {
  if (to.size() < from.size() + shift) to.resize(from.size() + shift);
  for (std::size_t i = 0; i < from.size(); ++i) to[i + shift] += from[i];
}

std::string in_milliseconds(std::chrono::nanoseconds value) {
  const double ms = std::chrono::duration<double, std::milli>(value).count();
  return ms < 100      ? fmt::format("{:.1f} ms", ms)
         : ms < 10'000 ? fmt::format("{:.0f} ms", ms)
                       : fmt::format("{:.1f} s", ms / 1000);
}

std::string megabytes(std::uint64_t bytes) {
  const double mb = static_cast<double>(bytes) / 1e6;
  return mb < 10'000 ? fmt::format("{:.1f} MB", mb) : fmt::format("{:.1f} GB", mb / 1000);
}

double per(double amount, double time) {
  return time > 0 ? amount / time : 0;
}

class Table {
 public:
  void row(std::string_view name, std::string_view value, std::string_view note = {}) {
    text_ += fmt::format("  {:<22}{:>14}{}{}\n", name, value, note.empty() ? "" : "   ", note);
  }
  void line(std::string_view line) { text_ += fmt::format("{}\n", line); }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

void add_latency(Table& table, const LatencyHistogram& latency) {
  if (latency.count() == 0) return;
  table.line("Latency, source to result on disk");
  for (auto [name, q] : {std::pair{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}})
    table.row(name, in_milliseconds(latency.quantile(q)));
  table.row("max", in_milliseconds(latency.max()));
}

void add_workers(Table& table, const ProcessReport& r) {
  if (r.workers.size() < 2) return;
  table.line("Workers");
  for (const auto& w : r.workers)
    table.row(w.name, fmt::format("{} msgs", w.messages),
              fmt::format("{:.1f} s busy, {:.1f} MB/s while busy", w.busy_s,
                          per(static_cast<double>(w.bytes) / 1e6, w.busy_s)));
}

void add_scans(Table& table, const ProcessReport& r) {
  if (r.scans.empty()) return;
  constexpr std::size_t shown = 6;
  const auto complete =
      std::count_if(r.scans.begin(), r.scans.end(), [](const auto& s) { return s.complete(); });
  table.line(fmt::format("Scans in {}: {} complete, {} not", r.output, complete,
                         r.scans.size() - static_cast<std::size_t>(complete)));
  for (std::size_t i = 0; i < std::min(shown, r.scans.size()); ++i) {
    const auto& s = r.scans[i];
    table.line(fmt::format("  {}  {} of {} slices{}{}", s.file, s.slices_present, s.slices,
                           s.picture.empty() ? "" : ", ", s.picture));
  }
  if (r.scans.size() > shown) table.line(fmt::format("  and {} more", r.scans.size() - shown));
}

}  // namespace

double ProcessReport::busy_s() const {
  double sum = 0;
  for (const auto& w : workers) sum += w.busy_s;
  return sum;
}

double ProcessReport::megabytes_per_second() const {
  return per(static_cast<double>(bytes) / 1e6, active_s);
}
double ProcessReport::pa_per_worker() const {
  return per(static_cast<double>(messages), busy_s());
}
double ProcessReport::pa() const {
  return pa_per_worker() * processes * parallelism;
}

void ProcessReport::merge(const ProcessReport& other, const std::string& name) {
  messages += other.messages;
  stored += other.stored;
  duplicates += other.duplicates;
  dead_letters += other.dead_letters;
  dead_letters_not_kept += other.dead_letters_not_kept;
  bytes += other.bytes;
  result_bytes += other.result_bytes;
  in_flight += other.in_flight;
  lag += other.lag;
  restarts += other.restarts;
  resumed_at_end |= other.resumed_at_end;
  active_s = std::max(active_s, other.active_s);
  idle_s = std::min(idle_s, other.idle_s);
  latency.merge(other.latency);
  if (isa.empty()) isa = other.isa;
  for (auto worker : other.workers) {
    if (!name.empty()) worker.name = name + "." + worker.name;
    workers.push_back(std::move(worker));
  }
  const auto later = std::max<std::int64_t>(0, (other.started_unix_ms - started_unix_ms + 500) / 1000);
  add_series(messages_per_second, other.messages_per_second, static_cast<std::size_t>(later));
  add_series(bytes_per_second, other.bytes_per_second, static_cast<std::size_t>(later));
  runs.insert(other.runs.begin(), other.runs.end());
}

std::string progress_line(const ProcessReport& r, double rate, std::uint64_t counted, std::uint64_t wanted) {
  if (r.messages == 0 && r.in_flight == 0)
    return fmt::format("waiting for messages of topic '{}' for {:.0f} s", r.topic, r.elapsed_s);
  std::string text =
      wanted == 0 ? fmt::format("{} messages", r.messages) : fmt::format("{} of {} blocks", counted, wanted);
  const double message_mb = per(static_cast<double>(r.bytes) / 1e6, static_cast<double>(r.messages));
  text += fmt::format(", {:.1f}/s, {:.1f} MB/s", rate, rate * message_mb);
  if (r.latency.count() > 0) text += fmt::format(", p50 {}", in_milliseconds(r.latency.quantile(0.5)));
  if (r.lag > 0) text += fmt::format(", {} waiting", r.lag);
  if (r.duplicates > 0) text += fmt::format(", {} repeated", r.duplicates);
  if (r.dead_letters > 0) text += fmt::format(", {} dead letters", r.dead_letters);
  return text;
}

std::string report_table(const ProcessReport& r) {
  Table table;
  table.line(fmt::format("Processed topic '{}' as group '{}'", r.topic, r.group));
  table.row("messages", fmt::format("{}", r.messages));
  if (r.duplicates > 0) table.row("repeated", fmt::format("{}", r.duplicates), "were in the output already");
  if (r.dead_letters > 0)
    table.row("dead letters", fmt::format("{}", r.dead_letters),
              r.dead_letters_not_kept == 0 ? fmt::format("in {}/dead-letters", r.output)
                                           : fmt::format("{} of them not kept", r.dead_letters_not_kept));
  table.row("raw data", megabytes(r.bytes));
  table.row("results", megabytes(r.result_bytes));
  table.row("time", fmt::format("{:.1f} s", r.active_s), "first message to last result");
  table.row("rate", fmt::format("{:.1f} MB/s", r.megabytes_per_second()),
            fmt::format("{:.1f} messages/s", per(static_cast<double>(r.messages), r.active_s)));
  table.row("busy", fmt::format("{:.1f} s", r.busy_s()),
            fmt::format("{} x {} threads", r.processes, r.parallelism));
  table.row("processing ability", fmt::format("{:.1f} /s", r.pa()),
            fmt::format("{:.1f} messages/s of useful time per thread", r.pa_per_worker()));
  if (r.lag > 0) table.row("left in the topic", fmt::format("{}", r.lag));
  if (r.restarts > 0) table.row("restarts", fmt::format("{}", r.restarts));
  add_latency(table, r.latency);
  add_workers(table, r);
  add_scans(table, r);
  return std::move(table).text();
}

}  // namespace miniapps::processors
