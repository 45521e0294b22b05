// What a processor's threads count, and the report made of it at any time.  Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "miniapps/processors/process_report.hpp"
#include "pilot/base/clock.hpp"

namespace miniapps::processors {

enum class Outcome { stored, duplicate, dead_letter, dead_letter_not_kept };

// One message whose result is safe on disk.
struct Handled {
  Outcome outcome = Outcome::stored;
  std::size_t worker = 0;
  std::uint64_t bytes = 0;
  std::uint64_t result_bytes = 0;
  pilot::Duration busy{0};
  pilot::Duration cpu{0};
  std::optional<pilot::WallTime> source_time;  // none: the header could not be read
  std::string run_id;                          // empty: the same
};

class ProcessMetrics {
 public:
  // `base` has the fields that don't change.  Until joined() is told, a processor is not called idle for
  // `join_limit`: forming a group takes seconds.
  ProcessMetrics(ProcessReport base, std::size_t workers, const pilot::Clock& clock,
                 pilot::Duration join_limit = std::chrono::seconds(15));

  void joined();
  void received();
  // Nothing came; all that is there was received, or not.
  void quiet(bool at_end, bool resumed_at_end);
  void handled(const Handled& message);

  ProcessReport report(std::size_t in_flight, std::int64_t lag) const;

 private:
  void count_second(std::uint64_t bytes);

  const pilot::Clock& clock_;
  const pilot::SteadyTime start_;
  mutable std::mutex mutex_;
  ProcessReport counted_;
  pilot::SteadyTime last_event_;  // idle counts from here
  bool at_end_ = false;
  std::optional<pilot::SteadyTime> first_message_;
  pilot::SteadyTime last_result_;
};

}  // namespace miniapps::processors
