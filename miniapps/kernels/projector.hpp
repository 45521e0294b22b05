// Exact line integrals through square pixels (Siddon 1985) and their transpose for one angle, over an image
// stored line by line, without following rays from pixel to pixel.
//
// Rays that run mostly down the image cross its rows: the lines are the rows.  Rays that run mostly across it
// use the transposed image, so that both cases are the same code: in the middle of line l the ray of bin d is
// at position
//   d * slope + offset + l * step,   1 <= slope <= sqrt(2),
// where pixel i has its middle at i.  Within the line the ray moves sideways by `width` = |step| <= 1, so it
// crosses one pixel or two, in proportion to the parts of that piece; `slope` is also the ray's length in the
// line.  The transpose is written as a gather, too: a pixel collects from the one or two rays that cross it.
// Nothing is scattered.
//
// Several angles are done line by line, so that a line stays in the first cache, and several slices with one
// axis share the arithmetic of positions and weights.  A slice's result does not depend on the others.
#pragma once

#include <cstddef>

namespace miniapps::kernels {

// Zeros around lines and bins that vectors may read.
inline constexpr int line_pad = 64;

inline constexpr int most_slices = 4, most_angles = 16;  // of a block

struct LineGeometry {
  double slope;  // positive: bins are stored in the order in which positions grow
  double offset;
  double step;
  double width;  // |step|, but not zero
};

struct LineBlock {
  LineGeometry geometry[most_angles];
  int angles;  // used of them
  int slices;  // 1 to most_slices
  int columns;
  int size;                   // lines, and pixels in a line
  std::size_t line_pitch;     // from line to line
  float* image[most_slices];  // first pixel; lines have line_pad zeros on both sides
  float* bins;                // first bin of angle 0, slice 0; rows have line_pad floats on both sides
  std::size_t row_pitch;      // from slice to slice, and times slices from angle to angle

  float* row(int angle, int slice) const { return bins + (std::size_t(angle) * slices + slice) * row_pitch; }
};

// Rows += sums over the lines of the means over the rays' pieces; what lies behind the last column gets
// rubbish.
void project_lines(const LineBlock& block);
// Images += the transpose.  Rows have zeros on both sides; pixels up to line_pad behind a line get rubbish.
void back_project_lines(const LineBlock& block);

}  // namespace miniapps::kernels
