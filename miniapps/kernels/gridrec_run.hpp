// Running a GridRec plan: the buffers and the entry that picks the instruction set.
#pragma once

#include <cstddef>

#include "miniapps/kernels/aligned_buffer.hpp"
#include "miniapps/kernels/gridrec_plan.hpp"

namespace miniapps::kernels {

// Slices are worked on in groups: 8 at once where there are enough, otherwise 2.  A slice's result does not
// depend on the group.
inline constexpr int large_group = 8, small_group = 2;

struct GridrecScratch {
  GridrecScratch(const GridrecPlan& plan, int max_slices);

  bool allows_large_groups = false;
  int large_from = 0;           // as many slices or more fill a large group
  AlignedBuffer<float> grid;    // [grid_rows][grid_cols][re of the group, im of the group]
  AlignedBuffer<float> signal;  // one block of lanes being transformed
  AlignedBuffer<float> work;    // its second buffer
};

// Arguments as pk_gridrec_run, checked.
void run_gridrec(const GridrecPlan& plan, GridrecScratch& scratch, const float* sino, const double* centres,
                 int slices, float* out);

}  // namespace miniapps::kernels
