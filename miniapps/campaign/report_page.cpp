#include "miniapps/campaign/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "miniapps/campaign/base64.hpp"
#include "miniapps/campaign/page_style.hpp"
#include "miniapps/campaign/svg_chart.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/file.hpp"

namespace miniapps::campaign {

using processors::LatencyHistogram;
using processors::ProcessReport;
using processors::ScanFigures;

namespace {

constexpr std::size_t max_pictures = 6;

double milliseconds(std::chrono::nanoseconds value) {
  return static_cast<double>(value.count()) / 1e6;
}

std::string latency_text(std::chrono::nanoseconds value) {
  const double ms = milliseconds(value);
  return ms < 10       ? fmt::format("{:.1f} ms", ms)
         : ms < 10'000 ? fmt::format("{:.0f} ms", ms)
                       : fmt::format("{:.1f} s", ms / 1000);
}

std::string megabytes(std::uint64_t bytes) {
  const double mb = static_cast<double>(bytes) / 1e6;
  return mb < 10'000 ? fmt::format("{:.1f} MB", mb) : fmt::format("{:.2f} GB", mb / 1000);
}

std::string date_of(std::int64_t unix_ms) {
  auto text = pilot::iso8601(pilot::WallTime(std::chrono::milliseconds(unix_ms)));
  text.replace(10, 1, " ");
  return text.substr(0, 19) + " UTC";
}

ProcessReport sum_of(const std::vector<ProcessReport>& reports) {
  if (reports.empty()) return {};
  ProcessReport sum = reports.front();
  if (reports.size() == 1) return sum;
  ProcessReport empty;
  empty.topic = sum.topic, empty.group = sum.group, empty.algorithm = sum.algorithm, empty.isa = sum.isa;
  empty.output = sum.output;
  empty.processes = 0;
  empty.started_unix_ms = sum.started_unix_ms;
  for (const auto& r : reports) {
    empty.started_unix_ms = std::min(empty.started_unix_ms, r.started_unix_ms);
    empty.processes += r.processes;
    empty.parallelism = std::max(empty.parallelism, r.parallelism);
    empty.elapsed_s = std::max(empty.elapsed_s, r.elapsed_s);
  }
  for (std::size_t i = 0; i < reports.size(); ++i) empty.merge(reports[i], fmt::format("{}", i));
  return empty;
}

// Scans of all processors, each once.
std::vector<std::pair<ScanFigures, std::filesystem::path>> scans_of(const ReportInput& input) {
  std::map<std::pair<std::string, std::uint64_t>, std::pair<ScanFigures, std::filesystem::path>> scans;
  for (std::size_t i = 0; i < input.processors.size(); ++i)
    for (const auto& scan : input.processors[i].scans) {
      auto& known = scans[{scan.run_id, scan.scan_id}];
      if (known.first.run_id.empty() || known.first.slices_present < scan.slices_present)
        known = {scan, input.folders.at(i)};
    }
  std::vector<std::pair<ScanFigures, std::filesystem::path>> list;
  for (auto& [key, value] : scans) list.push_back(std::move(value));
  return list;
}

class Page {
 public:
  explicit Page(const ReportInput& input)
      : input_(input), sum_(sum_of(input.processors)), scans_(scans_of(input)) {}

  std::string text() && {
    head();
    verdict();
    tiles();
    charts();
    pictures();
    figures();
    workers();
    facts();
    out_ += "</main>\n</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
  }
  void row(const std::string& name, const std::string& value) {
    add("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(value));
  }
  void tile(const std::string& name, const std::string& value, const std::string& note) {
    add("<div class=\"tile\"><span>{}</span><b>{}</b><small>{}</small></div>\n", escape(name), escape(value),
        escape(note));
  }

  void head() {
    std::string line;
    if (!sum_.topic.empty()) line = fmt::format("topic {}", sum_.topic);
    for (const auto& s : input_.sources) line += fmt::format(", run {}", s.run_id.substr(0, 8));
    if (sum_.started_unix_ms > 0) line += ", " + date_of(sum_.started_unix_ms);
    add("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
        "<body>\n<main>\n<header><h1>{}</h1><p>{}</p></header>\n",
        escape(input_.title), page_style, escape(input_.title), escape(line));
  }

  // Was everything that was acknowledged reconstructed?
  void verdict() {
    if (input_.sources.empty() || input_.processors.empty()) return;
    std::uint64_t acked = 0, stored = 0;
    for (const auto& s : input_.sources) {
      acked += s.acked;
      for (const auto& [scan, folder] : scans_)
        if (scan.run_id == s.run_id) stored += scan.blocks;
    }
    const bool good = stored == acked && sum_.dead_letters == 0;
    add("<p class=\"verdict {}\">{}</p>\n", good ? "good" : "bad",
        good ? fmt::format("All {} acknowledged messages were reconstructed, each exactly once.", acked)
             : fmt::format("{} of {} acknowledged messages were reconstructed; {} could not be used.", stored,
                           acked, sum_.dead_letters));
  }

  void tiles() {
    add("<section class=\"tiles\">\n");
    for (const auto& s : input_.sources)
      tile("Source", fmt::format("{:.1f} MB/s", s.mb_per_s),
           fmt::format("{} messages acknowledged", s.acked));
    if (!input_.processors.empty()) {
      tile("Processor", fmt::format("{:.1f} MB/s", sum_.megabytes_per_second()),
           fmt::format("{} messages in {:.1f} s", sum_.messages, sum_.active_s));
      tile("Latency, median", latency_text(sum_.latency.quantile(0.5)),
           "95 %: " + latency_text(sum_.latency.quantile(0.95)));
      tile("Processing ability", fmt::format("{:.1f} /s", sum_.pa()),
           fmt::format("{:.1f} /s of useful time per thread", sum_.pa_per_worker()));
    }
    add("</section>\n");
  }

  void charts() {
    add("<section class=\"charts\">\n");
    add("<figure><figcaption>Rate</figcaption>\n{}</figure>\n", rate_chart());
    if (sum_.latency.count() > 0)
      add("<figure><figcaption>Latency from source to result on disk</figcaption>\n{}</figure>\n",
          latency_chart());
    add("</section>\n");
  }

  std::string rate_chart() const {
    std::vector<Line> lines;
    std::vector<Level> levels;
    std::optional<std::int64_t> start;
    const auto first = [&](std::int64_t ms) { start = start ? std::min(*start, ms) : ms; };
    for (const auto& s : input_.sources)
      if (s.started_unix_ms) first(*s.started_unix_ms);
    if (!input_.processors.empty()) first(sum_.started_unix_ms);
    const auto line = [&](const char* name, const char* style, std::int64_t ms,
                          const std::vector<std::uint64_t>& bytes) {
      std::vector<double> values;
      for (auto b : bytes) values.push_back(static_cast<double>(b) / 1e6);
      lines.push_back({name, style, static_cast<double>(ms - start.value_or(ms)) / 1000, std::move(values)});
    };
    for (const auto& s : input_.sources) {
      if (s.started_unix_ms)
        line("source, acknowledged", "source", *s.started_unix_ms, s.bytes_per_second);
      else
        levels.push_back({"source, mean", "source", s.mb_per_s});
    }
    if (!input_.processors.empty())
      line("processor, on disk", "processor", sum_.started_unix_ms, sum_.bytes_per_second);
    return line_chart(lines, levels, "MB/s", "Raw data per second over time");
  }

  // About eight bins per factor of ten.
  std::string latency_chart() const {
    std::map<int, double> counts;
    const auto bin_of = [](std::uint64_t ns) {
      return static_cast<int>(std::floor(8 * std::log10(std::max(static_cast<double>(ns) / 1e6, 1e-3))));
    };
    for (const auto& bucket : sum_.latency.buckets())
      counts[bin_of(bucket.lower_ns + (bucket.upper_ns - bucket.lower_ns) / 2)] +=
          static_cast<double>(bucket.count);
    std::vector<Bin> bins;
    for (int i = counts.begin()->first; i <= counts.rbegin()->first; ++i)
      bins.push_back({std::pow(10, i / 8.0), std::pow(10, (i + 1) / 8.0), counts[i]});
    const auto mark = [&](const char* name, double q) {
      return Mark{name, milliseconds(sum_.latency.quantile(q))};
    };
    return log_histogram(bins, {mark("p50", 0.5), mark("p95", 0.95), mark("p99", 0.99)},
                         "How many messages took how long from the source to a result on disk");
  }

  void pictures() {
    std::vector<std::pair<std::string, std::string>> shown;  // caption, PNG
    std::vector<const std::pair<ScanFigures, std::filesystem::path>*> with_picture;
    for (const auto& entry : scans_)
      if (!entry.first.picture.empty()) with_picture.push_back(&entry);
    const auto count = std::min(max_pictures, with_picture.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [scan, folder] = *with_picture[i * with_picture.size() / count];
      const auto png = pilot::read_file(folder / scan.picture);
      if (!png) continue;
      const auto slice = scan.picture.substr(scan.picture.rfind('-') + 1);
      shown.emplace_back(fmt::format("scan {}, slice {}", scan.scan_id, slice.substr(0, slice.find('.'))),
                         png.value());
    }
    if (shown.empty()) return;
    add("<section>\n<h2>Slices</h2>\n<div class=\"slices\">\n");
    for (const auto& [caption, png] : shown)
      add("<figure><img alt=\"{0}\" "
          "src=\"data:image/png;base64,{1}\"><figcaption>{0}</figcaption></figure>\n",
          escape(caption), base64(png));
    add("</div>\n</section>\n");
  }

  void figures() {
    add("<section class=\"columns\">\n");
    for (const auto& s : input_.sources) source_table(s);
    if (!input_.processors.empty()) processor_table();
    add("</section>\n");
  }

  void source_table(const SourceFigures& s) {
    add("<div><h2>Source</h2>\n<table>\n");
    row("run", s.run_id);
    row("scan", fmt::format("{} slices, {} angles × {} columns, {}", s.slices, s.angles, s.columns, s.dtype));
    row("acknowledged", fmt::format("{} of {} messages", s.acked, s.sent));
    row("data", megabytes(s.acked_bytes));
    row("time", fmt::format("{:.1f} s", s.seconds));
    row("rate", fmt::format("{:.1f} messages/s, {:.1f} MB/s", s.messages_per_s, s.mb_per_s));
    row("wanted",
        s.wanted_per_s > 0 ? fmt::format("{:g} messages/s", s.wanted_per_s) : "as fast as possible");
    add("</table></div>\n");
  }

  void processor_table() {
    const auto complete =
        std::count_if(scans_.begin(), scans_.end(), [](const auto& entry) { return entry.first.complete(); });
    add("<div><h2>Processor</h2>\n<table>\n");
    row("messages", fmt::format("{}: {} stored, {} repeated, {} unusable", sum_.messages, sum_.stored,
                                sum_.duplicates, sum_.dead_letters));
    row("raw data, results", fmt::format("{}, {}", megabytes(sum_.bytes), megabytes(sum_.result_bytes)));
    row("scans", fmt::format("{} complete of {}", complete, scans_.size()));
    row("rate", fmt::format("{:.1f} MB/s over {:.1f} s", sum_.megabytes_per_second(), sum_.active_s));
    row("busy", fmt::format("{:.1f} s in {} × {} threads", sum_.busy_s(), sum_.processes, sum_.parallelism));
    row("latency p50, p95",
        latency_text(sum_.latency.quantile(0.5)) + ", " + latency_text(sum_.latency.quantile(0.95)));
    row("latency p99, max",
        latency_text(sum_.latency.quantile(0.99)) + ", " + latency_text(sum_.latency.max()));
    if (sum_.restarts > 0) row("restarts", fmt::format("{}", sum_.restarts));
    row("algorithm", sum_.algorithm);
    row("instruction set", sum_.isa);
    add("</table></div>\n");
  }

  void workers() {
    if (sum_.workers.size() < 2) return;
    add("<section>\n<h2>Workers</h2>\n<table "
        "class=\"wide\">\n<thead><tr><th>worker</th><th>messages</th><th>raw data</th>"
        "<th>busy</th><th>MB/s while busy</th></tr></thead>\n");
    for (const auto& w : sum_.workers)
      add("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{:.1f} s</td><td>{:.1f}</td></tr>\n",
          escape(w.name), w.messages, megabytes(w.bytes), w.busy_s,
          w.busy_s > 0 ? static_cast<double>(w.bytes) / 1e6 / w.busy_s : 0);
    add("</table>\n</section>\n");
  }

  void facts() {
    if (input_.facts.empty()) return;
    add("<section>\n<h2>Run</h2>\n<table>\n");
    for (const auto& [name, value] : input_.facts) row(name, value);
    add("</table>\n</section>\n");
  }

  const ReportInput& input_;
  const ProcessReport sum_;
  const std::vector<std::pair<ScanFigures, std::filesystem::path>> scans_;
  std::string out_;
};

}  // namespace

std::string report_page(const ReportInput& input) {
  return Page(input).text();
}

}  // namespace miniapps::campaign
