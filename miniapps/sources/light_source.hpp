// The light source at work: sends a scan's blocks on schedule, again and again with new scan ids, and
// counts what was acknowledged.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "miniapps/sources/scan_frames.hpp"
#include "miniapps/sources/source_report.hpp"
#include "miniapps/transports/transport.hpp"
#include "pilot/base/clock.hpp"

namespace miniapps::sources {

struct LightSourceOptions {
  std::string topic;                                       // for the report
  double per_second = 0;                                   // messages; 0: as fast as possible
  std::uint64_t count = 0;                                 // messages; 0: until `duration` is over
  std::optional<pilot::Duration> duration = std::nullopt;  // whichever comes first
  std::uint64_t first_scan_id = 0;
  pilot::Duration flush_timeout = std::chrono::minutes(2);
};

using OnProgress = std::function<void(const SourceProgress&)>;

// Runs until count or duration is reached, `stop_signal` is not 0, or a message failed; then waits for the
// acknowledgements.  `on_progress` is called about ten times a second and at the end.  All waiting is the
// producer's poll().
SourceReport run_light_source(transports::Producer& producer, ScanFrames& frames, const RunId& run_id,
                              const LightSourceOptions& options, const std::atomic<int>& stop_signal,
                              const pilot::Clock& clock, const OnProgress& on_progress);

// 16 random bytes, and their 32 hexadecimal digits.
RunId random_run_id();
std::string to_string(const RunId& run_id);

}  // namespace miniapps::sources
