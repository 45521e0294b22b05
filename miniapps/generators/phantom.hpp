// Phantoms made of ellipsoids, with their exact line integrals: what a perfect detector would measure.
//
// Geometry as in miniapps/kernels/kernels.h: a ray is s = x cos(theta) + y sin(theta), bin d measures
// s = d - centre, y points up, lengths are in bins.  Phantoms are described in the unit disc and scaled
// to `radius` bins.
#pragma once

#include <span>
#include <vector>

namespace miniapps::generators {

// Semi-axes a (along x before the turn by phi), b, c (along z, the axis of rotation); values add up.
struct Ellipsoid {
  double value;
  double a, b, c;
  double x, y;
  double phi;  // radians, anticlockwise
};

// An ellipsoid cut at one height.
struct Ellipse {
  double value;
  double a, b;
  double x, y;
  double phi;
};

using Phantom = std::vector<Ellipsoid>;
using Section = std::vector<Ellipse>;

inline constexpr int default_bin_samples = 8;

// The modified (higher contrast) Shepp-Logan head: P. Toft, "The Radon Transform", 1996, table B.1; values
// 0 to 1.  At z = 0 it is the well known picture; the extents in z are ours.
Phantom shepp_logan();

// The head with moving parts, for dynamic scans: `time` in periods of the motion.  dynamic_phantom(0) has
// every part at its place; a bubble grows during each period.
Phantom dynamic_phantom(double time);

// One disc: value `value`, radius `radius` of the unit disc.  For tests of quantitative kernels.
Phantom uniform_disc(double value, double radius);

// The section at height z (-1 to 1).
Section section_at(const Phantom& phantom, double z);

// Exact line integrals of the section, scaled to `radius` bins: out [theta.size()][columns], values in
// (phantom value) x bins.  A bin is as wide as their distance: it measures the mean over `samples` rays
// spread evenly over its width (1: the ray in its middle).
void sinogram(const Section& section, double radius, std::span<const double> theta, double centre,
              int columns, std::span<float> out, int samples = default_bin_samples);

// One row of the above.
void projection(const Section& section, double radius, double theta, double centre, std::span<float> out,
                int samples = default_bin_samples);

// The section as an image of size x size pixels (row 0 at the top), each pixel the mean of
// samples x samples points.
void rasterize(const Section& section, double radius, int size, int samples, std::span<float> out);

// `count` angles from 0 to `arc` radians, the end left out.
std::vector<double> even_angles(int count, double arc);

}  // namespace miniapps::generators
