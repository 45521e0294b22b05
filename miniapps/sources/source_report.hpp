// What a source did: JSON "miniapp.source/1" and a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "miniapps/sources/scan_frames.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/error.hpp"

namespace miniapps::sources {

struct SourceReport {
  std::string run_id;  // 32 hexadecimal digits, as in the messages
  std::string topic;
  formats::ScanShape shape;
  std::string dtype;  // "u16", "f32"
  std::uint32_t blocks_per_scan = 0;
  std::size_t message_bytes = 0;  // of the largest
  double wanted_rate = 0;         // messages per second; 0: as fast as possible
  std::uint64_t wanted = 0;       // messages; 0: until the duration ends
  std::uint64_t sent = 0;         // handed to the transport
  std::uint64_t acked = 0;
  std::uint64_t acked_bytes = 0;
  std::uint64_t failed = 0;
  pilot::Duration elapsed{0};  // first message sent -> last one acknowledged
  pilot::Duration max_lag{0};  // behind the schedule
  int signal = 0;              // that ended it, or 0
  std::optional<pilot::Error> error = std::nullopt;
  std::vector<std::string> notes;  // what was guessed about the scan

  double seconds() const { return std::chrono::duration<double>(elapsed).count(); }
  double megabytes_per_second() const;  // acknowledged, 10^6
  double messages_per_second() const;
  double scans() const;  // acknowledged messages over blocks per scan
  // Everything that was to be sent was sent and acknowledged.
  bool complete() const;
};

// One line of JSON, or several for people.
std::string to_json(const SourceReport& report, bool indented);

// Lines "name   value" for people.
std::string to_table(const SourceReport& report);

// A source at work.
struct SourceProgress {
  std::uint64_t wanted = 0;  // messages; 0: open end
  std::uint64_t sent = 0, acked = 0, acked_bytes = 0, queued = 0;
  pilot::Duration elapsed{0};
  pilot::Duration lag{0};
  std::optional<pilot::Duration> left = std::nullopt;  // until the end, as far as it can be told
  bool flushing = false;                               // all is sent, acknowledgements are awaited
};

// {"event":"progress","acked":..,"acked_bytes":..,"rate":..,"elapsed":..}
std::string to_json_line(const SourceProgress& progress, double messages_per_second);

// "120/200 acknowledged  19.9/s  14.7 MB/s  lag 0ms  4s left"
std::string to_line(const SourceProgress& progress, double messages_per_second, double bytes_per_second);

}  // namespace miniapps::sources
