// A centre made sharper by the picture it gives: the right axis is the one whose reconstruction has the least
// entropy (Donath, Beckmann, Schreyer 2006, "Automated determination of the center of rotation in
// tomography data", J. Opt. Soc. Am. A 23).
//
// The entropy is that of the picture's histogram.  Here the trial axes lie evenly around the guess, are
// reconstructed at once (GridRec takes an axis per slice), a value counts for its two nearest classes so
// that the entropy is smooth in the axis, and the minimum is that of the parabola through all trials.  The
// bins are joined to at most 400 columns, which costs a quarter and bears noise better, and filtered with the
// cosine window (Parzen's bears noise better still, but biases the axis by 0.1 joined bin; Shepp and Logan's
// is the other way round).
#pragma once

#include <optional>

#include "miniapps/kernels/centre.hpp"

namespace miniapps::kernels {

// Looks in guess +- radius, moving on up to twice if the least entropy is at an end.  Angles may cover any
// range.  Nothing if there is no minimum (constant data, less than 16 columns).
std::optional<double> refine_centre(const CentreQuestion& question);

// The standard error of that on phantoms.
double refinement_error(int columns);

// The double wedge's answer moved towards that of the picture around it, by the share that the two errors
// give: where counts are many the first is the better one, where they are few the second.
std::optional<double> find_centre_twice(const CentreQuestion& question);

}  // namespace miniapps::kernels
