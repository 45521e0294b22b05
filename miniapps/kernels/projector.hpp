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
#pragma once

#include <cstddef>

namespace miniapps::kernels {

// Zeros around lines and bins that vectors may read.
inline constexpr int line_pad = 64;

struct LineGeometry {
  double slope;  // positive: bins are stored in the order in which positions grow
  double offset;
  double step;
  double width;  // |step|, but not zero
  int columns;
  int size;           // lines, and pixels in a line
  std::size_t pitch;  // from line to line
};

// bins[d] += sum over lines of the mean over the ray's piece.  bins has line_pad floats behind the last
// column, which get rubbish; lines have line_pad zeros on both sides.
void project_lines(const LineGeometry& geometry, const float* image, float* bins);
// image += transpose.  bins have line_pad zeros on both sides; pixels up to line_pad behind a line get
// rubbish.
void back_project_lines(const LineGeometry& geometry, const float* bins, float* image);

}  // namespace miniapps::kernels
