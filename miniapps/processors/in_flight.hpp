// How many messages of each partition are under way between fetch and acknowledgement.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "pilot/base/clock.hpp"

namespace miniapps::processors {

class InFlight {
 public:
  void add(std::int32_t partition);
  void remove(std::int32_t partition);
  std::size_t total() const;
  // Nothing will be finished any more, not even what is added later: nobody waits from now on.
  void abandon();

  // Waits until nothing of these partitions is under way.  False when `limit` passed first.
  bool wait_drained(const std::vector<std::int32_t>& partitions, pilot::Duration limit);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int32_t, std::size_t> count_;
  std::size_t total_ = 0;
  bool abandoned_ = false;
};

}  // namespace miniapps::processors
