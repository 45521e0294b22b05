// A simulated scan: phantom, beam, detector.  Raw counts as a light source's detector would give them.
//
// Everything is a pure function of the spec and of (slice, angle, frame, time): any block can be made by any
// thread, at any time, in any order, with the same bits.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "miniapps/generators/phantom.hpp"

namespace miniapps::generators {

enum class PhantomKind { shepp_logan, dynamic, disc };

struct ScanSpec {
  int columns = 512;
  int angles = 360;
  int slices = 64;
  PhantomKind phantom = PhantomKind::shepp_logan;
  double arc = 3.14159265358979323846;                       // radians covered by the angles
  double centre = std::numeric_limits<double>::quiet_NaN();  // axis in bins; NaN: the middle, (columns-1)/2
  double radius = 0.95;                                      // of the unit disc, as part of columns / 2
  double min_transmission = 0.15;  // of the densest ray of the middle slice: sets attenuation_per_bin()
  double photons = 20000;          // mean counts of the open beam, over the dark level
  double dark_level = 100;         // mean counts of the closed beam
  double gain_spread = 0.05;       // relative deviation of the pixels' gains
  bool noise = true;               // Poisson noise on all frames
  double axis_drift = 0;           // bins that the axis moves from the first to the last angle
  double beam_decay = 0;           // part of the beam lost from the first to the last angle
  double dead_pixels = 0;          // part of the pixels that always read the dark level
  double zingers = 0;              // part of the readings hit by a stray photon (saturated)
  std::uint64_t seed = 1;
};

class Scan {
 public:
  explicit Scan(const ScanSpec& spec);

  const ScanSpec& spec() const { return spec_; }
  const std::vector<double>& theta() const { return theta_; }
  double centre() const { return centre_; }
  // A reconstruction of minus-log data reads (phantom value) x this.
  double attenuation_per_bin() const { return attenuation_; }

  // Raw counts of one slice, out [angles][columns].  `scan` numbers repeated scans: new noise each; `time`
  // moves the dynamic phantom.
  void raw_slice(int slice, std::uint64_t scan, double time, std::span<std::uint16_t> out) const;
  // Open beam and closed beam of one slice, one frame, out [columns].
  void flat_frame(int slice, int frame, std::span<std::uint16_t> out) const;
  void dark_frame(int slice, int frame, std::span<std::uint16_t> out) const;
  // Means over frames, out [columns].
  void mean_flat(int slice, int frames, std::span<float> out) const;
  void mean_dark(int slice, int frames, std::span<float> out) const;

  // The truth: line integrals without detector, out [angles][columns], times attenuation_per_bin().
  void line_integrals(int slice, double time, std::span<float> out) const;
  Section section(int slice, double time) const;

 private:
  std::vector<double> gains(int slice) const;
  ScanSpec spec_;
  std::vector<double> theta_;
  double centre_;
  double attenuation_ = 1;
};

}  // namespace miniapps::generators
