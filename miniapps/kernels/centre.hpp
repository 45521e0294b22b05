// The rotation axis from a sinogram over half a turn.
//
// Idea of Vo et al. 2014 ("Reliable method for calculating the center of rotation in parallel-beam
// tomography", Optics Express 22): the sinogram continued to a full turn by mirroring it about the right axis
// has its Fourier transform inside a double wedge |m| <= R w (m the angular, w the radial frequency, R the
// object's radius); about a wrong axis it leaks out.  Vo's search transforms one mirrored sinogram per
// candidate.  With A_m(w) the transform of the measured half, that of the mirrored half is exp(-2 i w c)
// (-1)^m conj(A_-m(w)); so the energy inside the wedge is
//   constant + 2 Re sum_w exp(2 i w c) sum_{|m| <= R w} (-1)^m A_m(w) A_-m(w)
// and one transform serves all candidates.  Each w is divided by its energy, so that all count alike.
#pragma once

#include <optional>

namespace miniapps::kernels {

struct CentreQuestion {
  const float* sino;  // [slices][angles][columns]
  const double* theta;
  int slices, angles, columns;
  double guess, radius;  // bins
};

struct FoundCentre {
  double centre;
  double deviation;  // standard error, estimated
};

// Nothing if the angles don't cover half a turn or the data are constant.
std::optional<FoundCentre> find_centre(const CentreQuestion& question);

}  // namespace miniapps::kernels
