// A pilot's event log: one JSON event per line, appended and synced before anything acts on it.
#pragma once

#include <filesystem>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/event.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::store {

// Reading needs no lock: a line is complete or (the last one, while it is written or after a crash) not
// yet there.
struct LogContent {
  std::vector<model::Event> events;
  std::uint64_t complete_bytes = 0;  // up to the end of the last whole line
  bool torn = false;                 // the file goes on with a part of a line
};
// Errors: not_found; failed, naming the line, when a whole line in the middle is damaged.
Result<LogContent> read_event_log(const std::filesystem::path& path, std::uint64_t from_byte = 0);

// The state: from the snapshot beside the log if it is good, and the events after it.
Result<model::PilotState> load_state(const std::filesystem::path& pilot_folder);

class EventLog {
 public:
  // Opens for writing and takes the writer's lock (fcntl); cuts off a torn last line.  Errors:
  // unavailable, when another process holds the lock.
  static Result<EventLog> open(const std::filesystem::path& pilot_folder, const Clock& clock);
  EventLog(EventLog&&) noexcept;
  EventLog& operator=(EventLog&&) noexcept;
  ~EventLog();

  // Writes, syncs, and folds the event into state().  Several at once are synced once.  Errors: unavailable,
  // when somebody else has written meanwhile (a file system may lose a lock); failed.
  Result<void> append(std::vector<model::EventBody> bodies);
  Result<void> append(model::EventBody body);

  const model::PilotState& state() const { return state_; }

  // Writes snapshot.json; done by itself each 1000 events, of a larger pilot as often as it has processes.
  Result<void> write_snapshot();

 private:
  EventLog(std::filesystem::path folder, const Clock& clock);
  std::filesystem::path folder_;
  const Clock* clock_;
  int fd_ = -1;
  int lock_fd_ = -1;
  model::PilotState state_;
  std::uint64_t snapshot_at_ = 0;
  std::uint64_t bytes_ = 0;  // of the file
};

}  // namespace pilot::store
