// Streams of points for k-means: Gaussian clusters that stay, drift, or appear and vanish, and uniform random
// points.
//
// A batch is a pure function of the spec, its number and the time, so producers can share a stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace miniapps::generators {

enum class ClusterKind {
  fixed,     // centres stay
  drifting,  // each centre moves on a circle of radius `motion` around its place, in its own plane and phase
  changing,  // each cluster is there for a part of each period, not all at the same time
  uniform    // no clusters: uniform in [-extent, extent)
};

struct ClusterSpec {
  ClusterKind kind = ClusterKind::fixed;
  int clusters = 10;
  int dimensions = 3;
  double extent = 10;    // centres lie in [-extent, extent)
  double deviation = 1;  // of the points around their centre, per coordinate
  double motion = 3;     // drifting: radius
  double period = 60;    // drifting, changing: seconds
  std::uint64_t seed = 1;
};

class ClusterStream {
 public:
  explicit ClusterStream(const ClusterSpec& spec);

  const ClusterSpec& spec() const { return spec_; }
  // Centres at a time, [clusters][dimensions].
  std::vector<double> centres(double time) const;
  // Whether a cluster gives points at a time; at any time at least one does.
  bool is_there(int cluster, double time) const;
  // One batch, out [n][dimensions].
  void batch(std::uint64_t number, double time, std::span<float> out) const;

 private:
  ClusterSpec spec_;
  std::vector<double> places_;  // [clusters][dimensions]
};

}  // namespace miniapps::generators
