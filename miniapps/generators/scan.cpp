#include "miniapps/generators/scan.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "miniapps/generators/random.hpp"

namespace miniapps::generators {
namespace {

enum ScanStream : std::uint64_t { kind_gain = 1, kind_raw, kind_flat, kind_dark, kind_dead, kind_zinger };

Phantom phantom_of(PhantomKind kind, double time) {
  switch (kind) {
    case PhantomKind::shepp_logan:
      return shepp_logan();
    case PhantomKind::dynamic:
      return dynamic_phantom(time);
    case PhantomKind::disc:
      return uniform_disc(1.0, 0.8);
  }
  return {};
}

std::uint16_t count(double mean, bool noise, RandomStream& random) {
  const double value = noise ? random.poisson(mean) : std::round(mean);
  return static_cast<std::uint16_t>(std::clamp(value, 0.0, 65535.0));
}

template <typename Frame>
void mean_of(int frames, std::span<float> out, Frame frame) {
  std::vector<double> sum(out.size(), 0.0);
  std::vector<std::uint16_t> counts(out.size());
  for (int f = 0; f < frames; ++f) {
    frame(f, std::span(counts));
    for (std::size_t c = 0; c < out.size(); ++c) sum[c] += counts[c];
  }
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = static_cast<float>(sum[c] / frames);
}

}  // namespace

Scan::Scan(const ScanSpec& spec)
    : spec_(spec),
      theta_(even_angles(spec.angles, spec.arc)),
      centre_(std::isnan(spec.centre) ? (spec.columns - 1) / 2.0 : spec.centre) {
  std::vector<float> row(spec.columns);
  const Section middle = section_at(phantom_of(spec.phantom, 0), 0);
  float densest = 0;
  for (double theta : {0.0, 0.785, 1.571, 2.356}) {
    projection(middle, spec.radius * spec.columns / 2, theta, (spec.columns - 1) / 2.0, row);
    densest = std::max(densest, *std::max_element(row.begin(), row.end()));
  }
  attenuation_ = densest > 0 ? -std::log(spec.min_transmission) / densest : 1.0;
}

Section Scan::section(int slice, double time) const {
  // The slices cover the middle 1.2 of the phantom's height 2; a single slice is its middle.
  const double z = spec_.slices > 1 ? 0.6 * (2.0 * slice / (spec_.slices - 1) - 1.0) : 0.0;
  return section_at(phantom_of(spec_.phantom, time), z);
}

std::vector<double> Scan::gains(int slice) const {
  RandomStream random(spec_.seed, kind_gain, slice), dead(spec_.seed, kind_dead, slice);
  std::vector<double> gain(spec_.columns);
  for (double& g : gain) {
    g = std::max(0.2, 1.0 + spec_.gain_spread * random.normal());
    if (dead.uniform() < spec_.dead_pixels) g = 0;
  }
  return gain;
}

void Scan::line_integrals(int slice, double time, std::span<float> out) const {
  assert(out.size() == theta_.size() * spec_.columns);
  const Section cut = section(slice, time);
  const double last = std::max<std::size_t>(theta_.size() - 1, 1);
  for (std::size_t a = 0; a < theta_.size(); ++a) {
    const std::span<float> row = out.subspan(a * spec_.columns, spec_.columns);
    projection(cut, spec_.radius * spec_.columns / 2, theta_[a], centre_ + spec_.axis_drift * (a / last),
               row);
    for (float& v : row) v *= static_cast<float>(attenuation_);
  }
}

void Scan::raw_slice(int slice, std::uint64_t scan, double time, std::span<std::uint16_t> out) const {
  std::vector<float> truth(out.size());
  line_integrals(slice, time, truth);
  const std::vector<double> gain = gains(slice);
  const double last = std::max<std::size_t>(theta_.size() - 1, 1);
  for (std::size_t a = 0; a < theta_.size(); ++a) {
    RandomStream random(spec_.seed, kind_raw, scan, slice, a), stray(spec_.seed, kind_zinger, scan, slice, a);
    const double beam = spec_.photons * (1.0 - spec_.beam_decay * (a / last));
    for (int c = 0; c < spec_.columns; ++c) {
      const std::size_t i = a * spec_.columns + c;
      out[i] = count(spec_.dark_level + beam * gain[c] * std::exp(-double(truth[i])), spec_.noise, random);
      if (spec_.zingers > 0 && stray.uniform() < spec_.zingers) out[i] = 65535;
    }
  }
}

void Scan::flat_frame(int slice, int frame, std::span<std::uint16_t> out) const {
  const std::vector<double> gain = gains(slice);
  RandomStream random(spec_.seed, kind_flat, slice, frame);
  for (int c = 0; c < spec_.columns; ++c)
    out[c] = count(spec_.dark_level + spec_.photons * gain[c], spec_.noise, random);
}

void Scan::dark_frame(int slice, int frame, std::span<std::uint16_t> out) const {
  RandomStream random(spec_.seed, kind_dark, slice, frame);
  for (int c = 0; c < spec_.columns; ++c) out[c] = count(spec_.dark_level, spec_.noise, random);
}

void Scan::mean_flat(int slice, int frames, std::span<float> out) const {
  mean_of(frames, out, [&](int f, std::span<std::uint16_t> counts) { flat_frame(slice, f, counts); });
}

void Scan::mean_dark(int slice, int frames, std::span<float> out) const {
  mean_of(frames, out, [&](int f, std::span<std::uint16_t> counts) { dark_frame(slice, f, counts); });
}

}  // namespace miniapps::generators
