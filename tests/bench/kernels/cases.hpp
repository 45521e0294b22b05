// Inputs of the benchmark, and owners of the kernels' plans.
#pragma once

#include <memory>
#include <vector>

#include "miniapps/generators/phantom.hpp"
#include "miniapps/kernels/kernels.h"

namespace bench_kernels {

struct Free {
  void operator()(pk_gridrec_plan* p) const { pk_gridrec_plan_destroy(p); }
  void operator()(pk_gridrec_scratch* p) const { pk_gridrec_scratch_destroy(p); }
  void operator()(pk_iterative_plan* p) const { pk_iterative_plan_destroy(p); }
  void operator()(pk_iterative_scratch* p) const { pk_iterative_scratch_destroy(p); }
  void operator()(pk_kmeans_model* p) const { pk_kmeans_destroy(p); }
  void operator()(pk_kmeans_partial* p) const { pk_kmeans_partial_destroy(p); }
};
template <typename T>
using Owner = std::unique_ptr<T, Free>;

// The modified Shepp-Logan phantom, some slices that differ by a factor, and the true picture of the first.
struct Scan {
  int angles, columns, slices;
  std::vector<double> theta;
  std::vector<float> sino, truth;
};
Scan make_scan(int angles, int columns, int slices);

// Peak signal-to-noise inside the circle, peak 1, of an image against the truth: as it is, or after the best
// scale and offset.
double psnr(const std::vector<float>& truth, const float* image, int size, bool fit);

}  // namespace bench_kernels
