// A fixed block of memory for SIMD: aligned to 64 bytes, large ones to huge pages, not initialised.
#pragma once

#include <cstddef>
#include <memory>

namespace miniapps::kernels {

void* allocate_aligned(std::size_t bytes);  // throws std::bad_alloc
void free_aligned(void* p);

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
