// Memory for results on their way to the disk: aligned to pages, so that the disk can take them from there
// without a copy, and used again, so that the kernel need not clear fresh pages each time.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace miniapps::processors {

inline constexpr std::size_t disk_alignment = 4096;

class ResultBuffer {
 public:
  explicit ResultBuffer(std::size_t floats);
  ~ResultBuffer();
  ResultBuffer(const ResultBuffer&) = delete;
  ResultBuffer& operator=(const ResultBuffer&) = delete;

  std::span<float> first(std::size_t floats) { return {data_, floats}; }
  std::size_t capacity() const { return capacity_; }

 private:
  float* data_;
  std::size_t capacity_;
};

// Hands buffers out and takes them back when their last user lets go.  Thread-safe; buffers may outlive it.
class ResultBufferPool {
 public:
  // Keeps at most `kept` unused buffers.
  explicit ResultBufferPool(std::size_t kept = 16);

  // At least so many floats, with any content.
  std::shared_ptr<ResultBuffer> take(std::size_t floats);

 private:
  struct Shelf {
    std::mutex mutex;
    std::vector<std::unique_ptr<ResultBuffer>> buffers;
    std::size_t kept;
  };
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace miniapps::processors
