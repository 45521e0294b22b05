// Which messages of one partition are done: work ends in any order, but Kafka remembers one number per
// partition, the offset before which everything is done.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace miniapps::transports::kafka {

class OffsetTracker {
 public:
  // A message was handed out.  Offsets grow, with gaps where Kafka keeps its own markers.
  void received(std::int64_t offset);

  // A message is done; one that is not open (of an earlier assignment, or told twice) changes nothing.
  void done(std::int64_t offset);

  // What can be committed and was not yet: the first open offset, or the one after the last received.
  std::optional<std::int64_t> committable() const;

  // `offset` was committed.
  void committed(std::int64_t offset);

  std::size_t open() const { return open_.size(); }

  // The offset after the last received one, if any.
  std::optional<std::int64_t> next() const { return next_; }

 private:
  std::set<std::int64_t> open_;
  std::optional<std::int64_t> next_;
  std::optional<std::int64_t> committed_;
  std::optional<std::int64_t> first_;  // nothing before it is ours to commit
};

}  // namespace miniapps::transports::kafka
