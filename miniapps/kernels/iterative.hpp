// ML-EM, OS-EM and SIRT over one projector pair.  Slices are independent; up to four with the same axis are
// worked on together because they share the projector's arithmetic.
#pragma once

#include <string>
#include <vector>

#include "miniapps/kernels/aligned_buffer.hpp"
#include "miniapps/kernels/kernels.h"
#include "miniapps/kernels/projector.hpp"

namespace miniapps::kernels {

// Angles of one subset whose rays run the same way, as they are worked on together.
struct AngleGroup {
  bool transposed;          // rays run mostly across: lines are image columns
  std::vector<int> angles;  // up to most_angles
};

struct IterativePlan {
  pk_iterative_desc desc{};  // theta is not kept
  int size = 0;
  std::size_t pitch = 0;  // of padded lines
  std::vector<double> cosine, sine;
  std::vector<std::vector<AngleGroup>> subsets;

  explicit IterativePlan(const pk_iterative_desc& desc);
  std::size_t image_floats() const { return pitch * size + 2 * line_pad; }
  std::size_t row_floats() const { return desc.columns + 2 * line_pad; }
};

std::string check_iterative(const pk_iterative_desc& desc);

// An image with zeros around its lines, as rows and transposed.
struct PaddedImage {
  AlignedBuffer<float> rows, columns;
};

struct IterativeScratch {
  explicit IterativeScratch(const IterativePlan& plan);
  int slices_at_once = 1;
  std::vector<PaddedImage> image, update;         // [slices_at_once]
  std::vector<AlignedBuffer<float>> sensitivity;  // A'1 of each subset, padded rows
  AlignedBuffer<float> bins;                      // [most_angles][slices_at_once] padded rows
  AlignedBuffer<float> row_sums;                  // SIRT: A1, [angles][columns]
};

struct IterativeJob {
  const float* sino;  // [slices][angles][columns]
  int slices;         // up to slices_at_once, all with this centre
  double centre;
  int iterations;
  bool warm_start;
  float* image;       // [slices][size][size]
  double* objective;  // [slices][iterations] or null
  int* done;          // [slices] iterations made, or null
};

void run_iterative(const IterativePlan& plan, IterativeScratch& scratch, const IterativeJob& job);
void project(const IterativePlan& plan, IterativeScratch& scratch, const float* image, double centre,
             float* sino);
void back_project(const IterativePlan& plan, IterativeScratch& scratch, const float* sino, double centre,
                  float* image);

}  // namespace miniapps::kernels
