// Which offset may be committed when messages of one partition finish out of order: the one before
// which everything that was fetched is done.  Offsets of a partition come in ascending order but need
// not be consecutive (compaction and transaction markers leave gaps).  Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace miniapps::processors {

class OffsetTracker {
 public:
  // A message was fetched.  False when its offset is not above the last one (a repeated delivery
  // within one assignment); nothing is changed then.
  bool fetched(std::int64_t offset);

  // A message's result is on disk.  Offsets that were not fetched, or are done already, are ignored.
  void done(std::int64_t offset);

  // The position to commit (one past the last message of the finished run), if it has moved since
  // the last take().
  std::optional<std::int64_t> take();

  // Fetched and not done.
  std::size_t open() const { return open_; }

 private:
  struct Entry {
    std::int64_t offset;
    bool done;
  };
  std::deque<Entry> entries_;  // ascending; the first one is not done
  std::optional<std::int64_t> last_fetched_;
  std::optional<std::int64_t> position_;
  std::size_t open_ = 0;
};

}  // namespace miniapps::processors
