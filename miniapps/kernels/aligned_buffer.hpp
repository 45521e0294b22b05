// A fixed block of memory for SIMD: aligned to 64 bytes, large ones to huge pages, not initialised.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace miniapps::kernels {

// Whole cache lines, 64 bytes, or large pages.  Throws std::bad_alloc.
void* allocate_aligned(std::size_t bytes);
void free_aligned(void* p);

// For vectors that one thread writes while its neighbours write theirs: whole cache lines, shared with
// nobody.
template <typename T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <typename Other>
  LineAllocator(const LineAllocator<Other>&) {}  // NOLINT: containers convert their allocators
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_aligned(count * sizeof(T))); }
  void deallocate(T* p, std::size_t) { free_aligned(p); }
  bool operator==(const LineAllocator&) const = default;
};
template <typename T>
using LineVector = std::vector<T, LineAllocator<T>>;

template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count)
      : memory_(static_cast<T*>(allocate_aligned(count * sizeof(T)))), size_(count) {}
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* p) const { free_aligned(p); }
  };
  std::unique_ptr<T, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace miniapps::kernels
