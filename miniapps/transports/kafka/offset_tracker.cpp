#include "miniapps/transports/kafka/offset_tracker.hpp"

#include <algorithm>

namespace miniapps::transports::kafka {

void OffsetTracker::received(std::int64_t offset) {
  if (!first_) first_ = offset;
  open_.insert(offset);
  next_ = std::max(next_.value_or(0), offset + 1);
}

void OffsetTracker::done(std::int64_t offset) {
  open_.erase(offset);
}

std::optional<std::int64_t> OffsetTracker::committable() const {
  if (!next_) return std::nullopt;
  const std::int64_t safe = open_.empty() ? *next_ : *open_.begin();
  if (safe <= committed_.value_or(*first_)) return std::nullopt;
  return safe;
}

void OffsetTracker::committed(std::int64_t offset) {
  committed_ = std::max(committed_.value_or(offset), offset);
}

}  // namespace miniapps::transports::kafka
