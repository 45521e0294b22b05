#include "miniapps/processors/in_flight.hpp"

#include <algorithm>

namespace miniapps::processors {

void InFlight::add(std::int32_t partition) {
  const std::lock_guard lock(mutex_);
  if (abandoned_) return;  // the receiver may fetch one more while a worker fails
  ++count_[partition];
  ++total_;
}

void InFlight::remove(std::int32_t partition) {
  const std::lock_guard lock(mutex_);
  const auto found = count_.find(partition);
  if (found == count_.end()) return;
  if (--found->second == 0) count_.erase(found);
  --total_;
  changed_.notify_all();
}

void InFlight::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  count_.clear();
  total_ = 0;
  changed_.notify_all();
}

std::size_t InFlight::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

bool InFlight::wait_drained(const std::vector<std::int32_t>& partitions, pilot::Duration limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] {
    return std::none_of(partitions.begin(), partitions.end(), [&](auto p) { return count_.contains(p); });
  });
}

}  // namespace miniapps::processors
