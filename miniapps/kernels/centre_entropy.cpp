#include "miniapps/kernels/centre_entropy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "miniapps/kernels/gridrec_plan.hpp"
#include "miniapps/kernels/gridrec_run.hpp"

namespace miniapps::kernels {
namespace {

constexpr int trials = large_group;  // axes that GridRec works on at once
constexpr int most_slices = 2, most_columns = 400, least_columns = 16, classes = 64;
constexpr int most_moves = 2, most_settled = 4;
constexpr double settled_radius = 1;

using Entropies = std::array<double, trials>;

// Where trial k stands in -1 to 1.
double place(int k) {
  return 2.0 * k / (trials - 1) - 1;
}

int joined_bins(int columns) {
  return (columns + most_columns - 1) / most_columns;
}

// The slices with the most in them.
std::vector<int> richest_slices(const CentreQuestion& q) {
  const std::size_t size = std::size_t(q.angles) * q.columns;
  std::vector<double> energy(q.slices);
  std::vector<int> order(q.slices);
  for (int s = 0; s < q.slices; ++s) {
    order[s] = s;
    for (const float *v = q.sino + s * size, *end = v + size; v != end; ++v)
      if (std::isfinite(*v)) energy[s] += double(*v) * *v;
  }
  const int count = std::min(most_slices, q.slices);
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](int a, int b) { return energy[a] != energy[b] ? energy[a] > energy[b] : a < b; });
  order.resize(count);
  return order;
}

// One slice with `joined` bins made one; values per joined bin, so that the picture keeps its scale.
void join_bins(const CentreQuestion& q, int slice, int joined, int columns, float* out) {
  const float* const sino = q.sino + std::size_t(slice) * q.angles * q.columns;
  const float scale = 1.0f / static_cast<float>(joined * joined);
  for (int a = 0; a < q.angles; ++a)
    for (int c = 0; c < columns; ++c) {
      float sum = 0;
      for (int j = 0; j < joined; ++j) {
        const float v = sino[std::size_t(a) * q.columns + c * joined + j];
        if (std::isfinite(v)) sum += v;
      }
      out[std::size_t(a) * columns + c] = sum * scale;
    }
}

// The circle of 0.95 times the picture's width: calls body(pointer to first, pixels) for each row.
template <typename Body>
void for_each_row(const float* image, int size, Body body) {
  const double radius = 0.95 * size / 2;
  for (int r = 0; r < size; ++r) {
    const double y = r + 0.5 - size / 2.0, rest = radius * radius - y * y;
    if (rest <= 0) continue;
    const int begin = static_cast<int>(std::ceil(size / 2.0 - 0.5 - std::sqrt(rest)));
    body(image + std::size_t(r) * size + begin, size - 2 * begin);
  }
}

// Entropy in bits of the values from low to high; those outside count for the ends.
double entropy(const float* image, int size, float low, float high) {
  constexpr int banks = 4;  // neighbours are often of one class: they would wait for each other
  float histogram[banks][classes + 1] = {};
  const float scale = classes / (high - low), last = classes - 1e-3f;
  double total = 0;
  for_each_row(image, size, [&](const float* row, int count) {
    for (int i = 0; i < count; ++i) {
      const float at = std::clamp((row[i] - low) * scale, 0.0f, last);
      const int whole = static_cast<int>(at);
      const float part = at - static_cast<float>(whole);
      float* const place = histogram[i % banks] + whole;
      place[0] += 1 - part;
      place[1] += part;
    }
    total += count;
  });
  double sum = 0;
  for (int c = 0; c <= classes; ++c) {
    double n = 0;
    for (const auto& bank : histogram) n += bank[c];
    if (n > 0) sum -= n / total * std::log2(n / total);
  }
  return sum;
}

// Reconstructs one joined slice about all trial axes, and measures the pictures.
class Pictures {
 public:
  Pictures(const CentreQuestion& q, int joined)
      : columns_(q.columns / joined),
        joined_(joined),
        plan_(describe(q, columns_)),
        scratch_(plan_, trials),
        sino_(std::size_t(trials) * q.angles * columns_),
        images_(std::size_t(trials) * columns_ * columns_) {}

  // Adds the entropies of a slice; false if its picture is flat.
  bool add(const CentreQuestion& q, int slice, const Entropies& axes, Entropies& sum) {
    const std::size_t in = std::size_t(q.angles) * columns_, out = std::size_t(columns_) * columns_;
    join_bins(q, slice, joined_, columns_, sino_.data());
    for (int k = 1; k < trials; ++k) std::copy_n(sino_.begin(), in, sino_.begin() + k * in);
    Entropies joined_axes;
    for (int k = 0; k < trials; ++k) joined_axes[k] = (axes[k] + 0.5) / joined_ - 0.5;
    run_gridrec(plan_, scratch_, sino_.data(), joined_axes.data(), trials, images_.data());
    float low = INFINITY, high = -INFINITY;
    for_each_row(images_.data() + trials / 2 * out, columns_, [&](const float* row, int count) {
      const auto [least, greatest] = std::minmax_element(row, row + count);
      low = std::min(low, *least);
      high = std::max(high, *greatest);
    });
    if (!(high - low > 1e-12f) || !std::isfinite(high - low)) return false;
    for (int k = 0; k < trials; ++k) sum[k] += entropy(images_.data() + k * out, columns_, low, high);
    return true;
  }

 private:
  static GridrecPlan describe(const CentreQuestion& q, int columns) {
    pk_gridrec_desc desc;
    pk_gridrec_desc_init(&desc, q.angles, columns, q.theta);
    desc.padding = 1;
    desc.filter = PK_FILTER_COSINE;
    return GridrecPlan(desc);
  }

  int columns_, joined_;
  GridrecPlan plan_;
  GridrecScratch scratch_;
  std::vector<float> sino_, images_;
};

// Where the least-squares parabola through the entropies at place(0) ... is least; nothing if it has no
// minimum.
std::optional<double> least_place(const Entropies& values) {
  double x2 = 0, x4 = 0, y = 0, xy = 0, x2y = 0;
  for (int k = 0; k < trials; ++k) {
    const double x = place(k);
    x2 += x * x, x4 += x * x * x * x;
    y += values[k], xy += x * values[k], x2y += x * x * values[k];
  }
  const double curve = (x2y - x2 * y / trials) / (x4 - x2 * x2 / trials), slope = xy / x2;
  if (!(curve > 1e-9)) return std::nullopt;
  return -slope / (2 * curve);
}

}  // namespace

std::optional<double> refine_centre(const CentreQuestion& q) {
  if (q.columns < least_columns) return std::nullopt;
  const std::vector<int> slices = richest_slices(q);
  Pictures pictures(q, joined_bins(q.columns));
  double guess = q.guess, radius = q.radius;
  int moves = 0;
  for (int settled = 0;;) {
    Entropies axes, sum{};
    for (int k = 0; k < trials; ++k) axes[k] = guess + radius * place(k);
    bool any = false;
    for (int s : slices) any = pictures.add(q, s, axes, sum) || any;
    if (!any) return std::nullopt;
    const std::optional<double> least = least_place(sum);
    if (least && std::abs(*least) <= 1) {
      guess += radius * *least;
      // The entropy is alike on both sides of its minimum, and a parabola only near it.
      if (std::abs(*least) < 0.15 || ++settled == most_settled) return guess;
      radius = std::min(radius, settled_radius);
    } else {
      if (++moves > most_moves) return std::nullopt;
      guess += sum.back() < sum.front() ? radius : -radius;
    }
  }
}

double refinement_error(int columns) {
  return 0.03 * joined_bins(columns);
}

std::optional<double> find_centre_twice(const CentreQuestion& q) {
  constexpr double radius = 1.5;  // the first answer is that good even for data of a few hundred photons
  const std::optional<FoundCentre> first = find_centre(q);
  if (!first) return std::nullopt;
  CentreQuestion near = q;
  near.guess = first->centre;
  near.radius = radius;
  const std::optional<double> second = refine_centre(near);
  if (!second) return first->centre;
  const double ours = first->deviation * first->deviation, error = refinement_error(q.columns);
  const double found = first->centre + (*second - first->centre) * ours / (ours + error * error);
  return std::clamp(found, q.guess - q.radius, q.guess + q.radius);
}

}  // namespace miniapps::kernels
