#include "miniapps/processors/offset_tracker.hpp"

#include <algorithm>
#include <utility>

namespace miniapps::processors {

bool OffsetTracker::fetched(std::int64_t offset) {
  if (last_fetched_ && offset <= *last_fetched_) return false;
  last_fetched_ = offset;
  entries_.push_back({offset, false});
  ++open_;
  return true;
}

void OffsetTracker::done(std::int64_t offset) {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), offset,
                                      [](const Entry& e, std::int64_t wanted) { return e.offset < wanted; });
  if (found == entries_.end() || found->offset != offset || found->done) return;
  found->done = true;
  --open_;
  while (!entries_.empty() && entries_.front().done) {
    position_ = entries_.front().offset + 1;
    entries_.pop_front();
  }
}

std::optional<std::int64_t> OffsetTracker::take() {
  return std::exchange(position_, std::nullopt);
}

}  // namespace miniapps::processors
