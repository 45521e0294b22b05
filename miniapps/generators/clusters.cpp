#include "miniapps/generators/clusters.hpp"

#include <cassert>
#include <cmath>
#include <numbers>

#include "miniapps/generators/random.hpp"

namespace miniapps::generators {
namespace {

enum ClusterDraw : std::uint64_t { kind_place = 101, kind_point, kind_phase };

double phase_of(const ClusterSpec& spec, int cluster) {
  return RandomStream(spec.seed, kind_phase, cluster).uniform();
}

}  // namespace

ClusterStream::ClusterStream(const ClusterSpec& spec) : spec_(spec) {
  RandomStream random(spec.seed, kind_place);
  places_.resize(std::size_t(spec.clusters) * spec.dimensions);
  for (double& x : places_) x = spec.extent * (2 * random.uniform() - 1);
}

std::vector<double> ClusterStream::centres(double time) const {
  std::vector<double> centres = places_;
  if (spec_.kind != ClusterKind::drifting) return centres;
  for (int c = 0; c < spec_.clusters; ++c) {
    const double angle = 2 * std::numbers::pi * (time / spec_.period + phase_of(spec_, c));
    double* const centre = centres.data() + std::ptrdiff_t(c) * spec_.dimensions;
    const int first = c % spec_.dimensions;
    centre[first] += spec_.motion * std::cos(angle);
    if (spec_.dimensions > 1) centre[(first + 1) % spec_.dimensions] += spec_.motion * std::sin(angle);
  }
  return centres;
}

bool ClusterStream::is_there(int cluster, double time) const {
  if (spec_.kind != ClusterKind::changing) return spec_.kind != ClusterKind::uniform;
  if (cluster == 0) return true;
  const double part = time / spec_.period + phase_of(spec_, cluster);
  return part - std::floor(part) < 0.6;
}

void ClusterStream::batch(std::uint64_t number, double time, std::span<float> out) const {
  assert(out.size() % spec_.dimensions == 0);
  RandomStream random(spec_.seed, kind_point, number);
  if (spec_.kind == ClusterKind::uniform) {
    for (float& v : out) v = static_cast<float>(spec_.extent * (2 * random.uniform() - 1));
    return;
  }
  const std::vector<double> now = centres(time);
  std::vector<int> present;
  for (int c = 0; c < spec_.clusters; ++c)
    if (is_there(c, time)) present.push_back(c);
  for (std::size_t p = 0; p < out.size(); p += spec_.dimensions) {
    const int cluster =
        present[static_cast<std::size_t>(random.uniform() * static_cast<double>(present.size()))];
    for (int j = 0; j < spec_.dimensions; ++j)
      out[p + j] = static_cast<float>(now[std::size_t(cluster) * spec_.dimensions + j] +
                                      spec_.deviation * random.normal());
  }
}

}  // namespace miniapps::generators
