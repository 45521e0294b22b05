// ML-EM, OS-EM and SIRT over one projector pair.  Slices are independent; each is worked on by itself.
#pragma once

#include <string>
#include <vector>

#include "miniapps/kernels/aligned_buffer.hpp"
#include "miniapps/kernels/kernels.h"
#include "miniapps/kernels/projector.hpp"

namespace miniapps::kernels {

struct IterativePlan {
  pk_iterative_desc desc{};  // theta is not kept
  int size = 0;
  std::size_t pitch = 0;  // of padded lines
  std::vector<double> cosine, sine;

  explicit IterativePlan(const pk_iterative_desc& desc);
  std::size_t image_floats() const { return pitch * size + 2 * line_pad; }
  int subset_count() const { return desc.method == PK_OSEM ? desc.subsets : 1; }
};

std::string check_iterative(const pk_iterative_desc& desc);

// An image with zeros around its lines, as rows and transposed.
struct PaddedImage {
  AlignedBuffer<float> rows, columns;
};

struct IterativeScratch {
  explicit IterativeScratch(const IterativePlan& plan);
  PaddedImage image, update;
  std::vector<AlignedBuffer<float>> sensitivity;  // A'1 of each subset, padded rows
  AlignedBuffer<float> bins;                      // one projection with padding
  AlignedBuffer<float> sums;                      // SIRT: A1, [angles][columns]
};

// Angles first, first + step, ... of one slice.
struct AngleSet {
  int first, step;
};

struct IterativeJob {
  const float* sino;  // [angles][columns]
  double centre;
  int iterations;
  bool warm_start;
  float* image;       // [size][size]
  double* objective;  // [iterations] or null
};

// Returns the iterations made.
int run_iterative(const IterativePlan& plan, IterativeScratch& scratch, const IterativeJob& job);
void project(const IterativePlan& plan, IterativeScratch& scratch, const float* image, double centre,
             float* sino);
void back_project(const IterativePlan& plan, IterativeScratch& scratch, const float* sino, double centre,
                  float* image);

}  // namespace miniapps::kernels
