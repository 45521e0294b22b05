// What was last heard of a user's jobs, shared by all of the user's commands and agents through one file,
// so that together they ask the batch system no more often than one poller would.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adaptors/batch/host/batch_dialect.hpp"

namespace pilot::adaptors::host {

class KnownJobs {
 public:
  // Lines that make no sense are dropped: they are asked for again.
  static KnownJobs parse(std::string_view text);
  std::string text() const;

  // Null: not heard of since `now` - `age`.  A time in the future (a clock was set back) is old.  A job that
  // waits, or of which nothing is heard, may be looked at less often the longer that goes on: after three
  // answers that said the same half as often, after six a quarter.
  const JobStatus* find(const std::string& job_id, WallTime now, Duration age) const;

  void set(JobStatus status, WallTime heard);
  void forget(const std::string& job_id) { jobs_.erase(job_id); }

  // Jobs that somebody wanted to know about within `age` and that have not ended.
  std::vector<std::string> worth_asking(WallTime now, Duration age) const;

  void drop_older_than(WallTime time);

 private:
  struct Heard {
    JobStatus status;  // phase, reason, starts_at and ends_at
    WallTime at{};
    int same = 0;  // how many answers before it said the same
  };
  std::map<std::string, Heard> jobs_;
};

}  // namespace pilot::adaptors::host
