// Everything of a GridRec reconstruction that depends on the geometry only.
//
// Method: filtered back-projection written as an adjoint non-uniform Fourier transform (O'Sullivan 1985;
// Dowd, Campbell, Marr et al. 1999, "Developments in synchrotron x-ray computed microtomography").  The
// filtered projections' spectra are samples on rays of the plane; they are spread on a Cartesian grid with a
// Kaiser-Bessel kernel (Beatty, Nishimura, Pauly 2005), transformed, and divided by the kernel's transform.
//
// The length of the filtering transform ("padding") and the size of the 2-D grid ("oversampling") are
// separate: the filter needs twice the columns to be a linear convolution, but only the middle of the
// filtered projection reaches the image, so the grid may stay small.
#pragma once

#include <string>
#include <vector>

#include "miniapps/kernels/kernels.h"
#include "miniapps/kernels/lane_fft.hpp"

namespace miniapps::kernels {

// Taps of the interpolation kernel with weights tabulated over the offset; linear interpolation between
// entries.
struct SpreadKernel {
  int width = 4;                      // taps per axis: 4, 5 or 8
  int intervals = 0;                  // table rows - 1
  std::vector<float> table;           // [intervals + 2][8]: weight of tap i at distance offset - width/2 + i
  double shape = 0;                   // Kaiser-Bessel's beta
  double transform(double xi) const;  // Fourier transform at xi cycles per grid cell
};

struct GridrecAngle {
  float u, v;       // grid cells per radial step; v >= 0
  float conjugate;  // +1 or -1: sign of the imaginary part
  double weight;    // the angle's share of the half turn, radians
  double shift;     // bins added to the centre so that pixels may lie between grid points
};

struct GridrecPlan {
  pk_gridrec_desc desc{};  // theta is not kept
  int size = 0;            // N of the N x N image
  int rows = 0, cols = 0;  // of the region of interest
  int transform = 0;       // M: length of the filtering transform
  int grid = 0;            // L
  int margin = 0;          // cells beyond the grid that taps may reach
  bool direct = false;     // M == L: spectra are spread as they are
  SpreadKernel kernel;
  std::vector<GridrecAngle> angles;
  std::vector<float> response;    // [M/2 + 1], with all scales
  std::vector<float> row_factor;  // [rows] 1 / kernel transform
  std::vector<float> col_factor;  // [cols]
  RealFftPlan filtering;          // M
  RealFftPlan radial;             // L, also the second pass of the 2-D transform
  FftPlan across;                 // L, the first pass

  explicit GridrecPlan(const pk_gridrec_desc& desc);

  static constexpr int spare_rows = 8;  // a block of rows may reach beyond the last one
  int grid_rows() const { return grid / 2 + 1 + 2 * margin + spare_rows; }
  int grid_cols() const { return grid + 1 + 2 * margin; }
};

// Empty, or what is wrong with the description.
std::string check_gridrec(const pk_gridrec_desc& desc);

// Frequency response of a filter at f cycles per bin relative to the ramp |f| (1 at f = 0).
double filter_window(int filter, double f, double p0, double p1);

// Shares of the half turn that belong to each angle: half the gaps to its neighbours modulo pi.  A gap much
// larger than the usual one (a missing wedge) counts as a usual one.
std::vector<double> angle_weights(const double* theta, int count);

}  // namespace miniapps::kernels
