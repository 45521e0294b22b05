// The figures of a processor, while it runs and at its end: JSON "miniapp.process/1" and a table.
// Reports of several workers or processes merge into one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "miniapps/processors/latency_histogram.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::processors {

struct WorkerFigures {
  std::string name;  // "0" or "process.thread": "1.0"
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double busy_s = 0;  // decoding and reconstructing, not waiting
  double cpu_s = 0;   // of that, on a core
};

// One scan in the output folder.
struct ScanFigures {
  std::string run_id;
  std::uint64_t scan_id = 0;
  std::string file;     // relative to the output folder
  std::string picture;  // same; empty: none
  std::uint64_t slices = 0;
  std::uint64_t slices_present = 0;
  std::uint64_t blocks = 0;
  bool complete() const { return slices_present == slices; }
};

struct ProcessReport {
  std::string topic;
  std::string group;
  std::string output;     // folder
  std::string algorithm;  // parameters in one line
  std::string isa;        // instruction set of the kernels
  int processes = 1;
  int parallelism = 1;  // threads per process
  std::int64_t started_unix_ms = 0;
  double elapsed_s = 0;
  double active_s = 0;           // from the first message's arrival to the last result
  double idle_s = 0;             // since the last message came (or since the start)
  std::uint64_t messages = 0;    // stored + duplicates + dead letters
  std::uint64_t stored = 0;      // blocks that are in the output because of this processor
  std::uint64_t duplicates = 0;  // blocks that were there already
  std::uint64_t dead_letters = 0;
  std::uint64_t dead_letters_not_kept = 0;  // beyond the limit of the folder
  std::uint64_t bytes = 0;                  // of messages, as they came
  std::uint64_t result_bytes = 0;           // of slices written
  std::uint64_t in_flight = 0;
  std::int64_t lag = 0;        // sent, not yet received
  std::uint64_t restarts = 0;  // of worker processes
  LatencyHistogram latency;    // source time -> result safe on disk
  std::vector<WorkerFigures> workers;
  std::vector<std::uint64_t> messages_per_second;  // index: whole seconds since the start
  std::vector<std::uint64_t> bytes_per_second;
  std::set<std::string> runs;  // run ids seen
  // The group had read all there was before this processor came (transports::Consumer::resumed_at_end).
  bool resumed_at_end = false;
  std::vector<ScanFigures> scans;
  std::string ended_by;  // "count", "idle", "duration", "signal", "error"; empty while running
  std::string error;

  double busy_s() const;
  double megabytes_per_second() const;  // bytes over active time, in 10^6
  // Processing ability: messages per second of useful time, of one worker and of all of them.
  double pa_per_worker() const;
  double pa() const;

  // Adds another one's figures; `name` (a process) is put before its workers' names.
  void merge(const ProcessReport& other, const std::string& name);
};

// One line of JSON, or several for people.
std::string to_json(const ProcessReport& report, bool indented);
// Errors: usage (not JSON, another schema, a field of a wrong type).
pilot::Result<ProcessReport> parse_process_report(const std::string& text);

// {"event":"progress", ...}, one line; `rate` is in messages per second over the last interval.
std::string progress_json(const ProcessReport& report, double rate);
// The same for people, one line without its end; `wanted` 0: open end.
std::string progress_line(const ProcessReport& report, double rate, std::uint64_t counted,
                          std::uint64_t wanted);

// The final table for people.
std::string report_table(const ProcessReport& report);

}  // namespace miniapps::processors
