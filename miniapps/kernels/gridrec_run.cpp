#include "miniapps/kernels/gridrec_run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "miniapps/kernels/gridrec_run.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "miniapps/kernels/gridrec_run-inl.h"

#if HWY_ONCE
#include <algorithm>

namespace miniapps::kernels {
namespace {

constexpr int widest_lanes = 16;  // floats in the widest vectors in use

std::size_t grid_floats(const GridrecPlan& plan, int group) {
  return std::size_t(plan.grid_rows()) * plan.grid_cols() * 2 * group;
}

}  // namespace

GridrecScratch::GridrecScratch(const GridrecPlan& plan, int max_slices) {
  // A very large grid would fill the memory with eight slices, and gains little as no cache holds even two.
  constexpr std::size_t most_floats = std::size_t{256} << 20;
  large_from = 5;
  allows_large_groups =
      (max_slices <= 0 || max_slices >= large_from) && grid_floats(plan, large_group) <= most_floats;
  const int group = allows_large_groups ? large_group : small_group;
  const std::size_t elements = std::size_t(std::max(plan.transform / 2, plan.grid)) + 1;
  grid = AlignedBuffer<float>(grid_floats(plan, group));
  signal = AlignedBuffer<float>(elements * 2 * widest_lanes);
  work = AlignedBuffer<float>(elements * 2 * widest_lanes);
}

HWY_EXPORT(run_small_group);
HWY_EXPORT(run_large_group);

void run_gridrec(const GridrecPlan& plan, GridrecScratch& scratch, const float* sino, const double* centres,
                 int slices, float* out) {
  const std::size_t in_size = std::size_t(plan.desc.angles) * plan.desc.columns;
  const std::size_t out_size = std::size_t(plan.rows) * plan.cols;
  for (int first = 0; first < slices;) {
    const int left = slices - first;
    const bool large = scratch.allows_large_groups && left >= scratch.large_from;
    const int count = std::min(left, large ? large_group : small_group);
    GroupJob job{sino + first * in_size, centres == nullptr ? nullptr : centres + first, count,
                 out + first * out_size};
    if (large)
      HWY_DYNAMIC_DISPATCH(run_large_group)(plan, scratch, job);
    else
      HWY_DYNAMIC_DISPATCH(run_small_group)(plan, scratch, job);
    first += count;
  }
}

}  // namespace miniapps::kernels
#endif
