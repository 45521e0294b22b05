// A queue between threads that holds at most so much: a full one makes the producing side wait, and so
// on back to the broker.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace miniapps::processors {

template <typename T>
class BoundedQueue {
 public:
  // `limit` is in the unit of push()'s weight: items, bytes ...  One item is let in whatever its weight.
  explicit BoundedQueue(std::size_t limit) : limit_(limit) {}

  // Waits for room.  False (and `item` is dropped) when the queue is closed.
  bool push(T item, std::size_t weight = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || items_.empty() || weight_ + weight <= limit_; });
    if (closed_) return false;
    items_.push_back({std::move(item), weight});
    weight_ += weight;
    changed_.notify_all();
    return true;
  }

  // Waits for an item and takes as many as are there, at most `most`, but no more than this consumer's
  // share among `consumers`; empty when the queue is closed and empty.
  std::vector<T> pop_some(std::size_t most, std::size_t consumers) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !items_.empty(); });
    const auto share = (items_.size() + consumers - 1) / consumers;
    std::vector<T> taken;
    while (taken.size() < std::min(most, share)) {
      taken.push_back(std::move(items_.front().item));
      weight_ -= items_.front().weight;
      items_.pop_front();
    }
    changed_.notify_all();
    return taken;
  }

  // Waits for an item and takes all there are; empty when the queue is closed and empty.
  std::vector<T> pop_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !items_.empty(); });
    std::vector<T> taken;
    taken.reserve(items_.size());
    for (auto& entry : items_) taken.push_back(std::move(entry.item));
    items_.clear();
    weight_ = 0;
    changed_.notify_all();
    return taken;
  }

  // Takes out the items that `unwanted` says, and returns them.
  template <typename Predicate>
  std::vector<T> take_if(const Predicate& unwanted) {
    const std::lock_guard lock(mutex_);
    std::vector<T> taken;
    std::deque<Entry> kept;
    for (auto& entry : items_) {
      if (unwanted(entry.item)) {
        weight_ -= entry.weight;
        taken.push_back(std::move(entry.item));
      } else {
        kept.push_back(std::move(entry));
      }
    }
    items_ = std::move(kept);
    changed_.notify_all();
    return taken;
  }

  // No more pushes; what is inside can still be popped.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  struct Entry {
    T item;
    std::size_t weight;
  };
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> items_;
  std::size_t weight_ = 0;
  bool closed_ = false;
};

}  // namespace miniapps::processors
