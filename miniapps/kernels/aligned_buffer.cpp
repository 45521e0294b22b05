#include "miniapps/kernels/aligned_buffer.hpp"

#include <cstdlib>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace miniapps::kernels {

void* allocate_aligned(std::size_t bytes) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= huge ? huge : 64;
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) throw std::bad_alloc();
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const p = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Columns of the grid are far apart: with small pages each access of a column needs its own TLB entry.
  if (alignment == huge) madvise(p, rounded, MADV_HUGEPAGE);
#endif
  return p;
}

void free_aligned(void* p) {
  std::free(p);
}

}  // namespace miniapps::kernels
