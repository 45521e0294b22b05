#include "miniapps/kernels/centre.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

namespace miniapps::kernels {
namespace {

constexpr double pi = std::numbers::pi;
using Spectrum = std::vector<std::complex<double>>;

// Angles of half a turn in ascending order, with their weights; empty if less than 0.8 of it is covered.
struct HalfTurn {
  std::vector<int> index;
  std::vector<double> theta, weight;
};

HalfTurn half_turn(const CentreQuestion& q) {
  HalfTurn half;
  std::vector<int> order(q.angles);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return q.theta[a] < q.theta[b]; });
  const double start = q.theta[order[0]];
  for (int a : order)
    if (q.theta[a] - start < pi - 1e-6) {
      half.index.push_back(a);
      half.theta.push_back(q.theta[a] - start);
    }
  const std::size_t n = half.index.size();
  if (n < 8 || half.theta.back() < 0.8 * pi) return {};
  for (std::size_t i = 0; i < n; ++i) {
    const double before = i == 0 ? half.theta[n - 1] - pi : half.theta[i - 1];
    const double after = i + 1 == n ? pi : half.theta[i + 1];
    half.weight.push_back(0.5 * (after - before) / pi);
  }
  return half;
}

std::complex<double> product(const std::complex<double>& a, const std::complex<double>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(-2 pi i k (d - middle) / columns) for k = 1 to count: [column][re of all k, im of all k].
std::vector<float> turns_of(int columns, int count) {
  const double middle = (columns - 1) / 2.0;
  std::vector<float> turns(std::size_t(columns) * 2 * count);
  for (int d = 0; d < columns; ++d) {
    const std::complex<double> step = std::polar(1.0, -2 * pi * (d - middle) / columns);
    std::complex<double> turn = step;
    for (int k = 0; k < count; ++k, turn = product(turn, step)) {
      turns[std::size_t(d) * 2 * count + k] = static_cast<float>(turn.real());
      turns[std::size_t(d) * 2 * count + count + k] = static_cast<float>(turn.imag());
    }
  }
  return turns;
}

// Radial transforms of the rows at k = 1 to count cycles per row, times the angle's weight:
// [angle][re of all k, im of all k].
std::vector<float> radial_transforms(const CentreQuestion& q, const float* sino, const HalfTurn& half,
                                     const std::vector<float>& turns, int count) {
  const int wide = 2 * count;
  std::vector<float> out(half.index.size() * wide, 0.0f), row(q.columns);
  for (std::size_t a = 0; a < half.index.size(); ++a) {
    const float* const from = sino + std::size_t(half.index[a]) * q.columns;
    for (int d = 0; d < q.columns; ++d)
      row[d] = std::isfinite(from[d]) ? from[d] * static_cast<float>(half.weight[a]) : 0.0f;
    float* const sum = out.data() + a * wide;
    int d = 0;
    for (; d + 4 <= q.columns; d += 4) {  // four at once: the sums are loaded and stored less often
      const float* const t = turns.data() + std::size_t(d) * wide;
      const float v0 = row[d], v1 = row[d + 1], v2 = row[d + 2], v3 = row[d + 3];
      for (int k = 0; k < wide; ++k)
        sum[k] += v0 * t[k] + v1 * t[wide + k] + v2 * t[2 * wide + k] + v3 * t[3 * wide + k];
    }
    for (; d < q.columns; ++d)
      for (int k = 0; k < wide; ++k) sum[k] += row[d] * turns[std::size_t(d) * wide + k];
  }
  return out;
}

// The greatest angular frequency of the wedge at radial frequency k + 1, with R a quarter of the columns.
int wedge_end(int k, int angles) {
  return std::min(static_cast<int>(std::ceil(pi * (k + 1) * 0.5)) + 1, angles / 2);
}

// Sums over the angles of one angular frequency m, for radial frequencies from `first` up: values times
// cos(m theta) and sin(m theta), real and imaginary parts apart.
struct AngularSums {
  explicit AngularSums(int size) : re_cos(size), re_sin(size), im_cos(size), im_sin(size) {}
  std::vector<float> re_cos, re_sin, im_cos, im_sin;

  void add(const std::vector<float>& radial, const Spectrum& turns, int first) {
    const int count = static_cast<int>(re_cos.size());
    for (auto* sums : {&re_cos, &re_sin, &im_cos, &im_sin}) std::fill(sums->begin(), sums->end(), 0.0f);
    float *const rc = re_cos.data(), *const rs = re_sin.data(), *const ic = im_cos.data(),
                 *const is = im_sin.data();
    for (std::size_t a = 0; a < turns.size(); ++a) {
      const float *const re = radial.data() + a * 2 * count, *const im = re + count;
      const float c = static_cast<float>(turns[a].real()), s = static_cast<float>(turns[a].imag());
      for (int k = first; k < count; ++k) {
        rc[k] += re[k] * c;
        rs[k] += re[k] * s;
        ic[k] += im[k] * c;
        is[k] += im[k] * s;
      }
    }
  }
  // The transform at m, and at -m; turns are exp(-i m theta).
  std::complex<double> positive(int k) const {
    return {double(re_cos[k]) - im_sin[k], double(re_sin[k]) + im_cos[k]};
  }
  std::complex<double> negative(int k) const {
    return {double(re_cos[k]) + im_sin[k], double(im_cos[k]) - re_sin[k]};
  }
};

// Adds to phase[k] the sum over the wedge, divided by its energy.
bool add_wedge(const std::vector<float>& radial, const HalfTurn& half, int columns, int count,
               Spectrum& phase) {
  const int angles = static_cast<int>(half.index.size());
  Spectrum steps(angles), turns(angles, 1.0), sum(count);
  std::vector<double> energy(count);
  for (int a = 0; a < angles; ++a) steps[a] = std::polar(1.0, -half.theta[a]);
  AngularSums sums(count);
  for (int m = 0, first = 0; first < count; ++m) {
    sums.add(radial, turns, first);
    for (int k = first; k < count; ++k) {
      const std::complex<double> positive = sums.positive(k), negative = sums.negative(k);
      const double times = m == 0 ? 1 : m % 2 == 0 ? 2 : -2;
      sum[k] += times * product(positive, negative);
      energy[k] += std::norm(positive) + (m == 0 ? 0 : std::norm(negative));
    }
    for (int a = 0; a < angles; ++a) turns[a] = product(turns[a], steps[a]);
    while (first < count && wedge_end(first, angles) <= m) ++first;
  }
  bool any = false;
  for (int k = 0; k < count; ++k) {
    if (!(energy[k] > 1e-12 * columns)) continue;
    phase[k] += sum[k] / energy[k];
    any = true;
  }
  return any;
}

double agreement(const Spectrum& phase, int columns, double shift) {
  const std::complex<double> step = std::polar(1.0, 4 * pi * shift / columns);
  std::complex<double> turn = step;
  double sum = 0;
  for (const std::complex<double>& p : phase) {
    sum += turn.real() * p.real() - turn.imag() * p.imag();
    turn = product(turn, step);
  }
  return sum;
}

double best_shift(const Spectrum& phase, int columns, double low, double high) {
  double best = low, best_value = -1e300;
  constexpr double coarse = 0.25;
  for (double s = low; s <= high + 1e-9; s += coarse) {
    const double value = agreement(phase, columns, s);
    if (value > best_value) best = s, best_value = value;
  }
  for (double step = coarse / 2; step > 1e-3; step /= 2)
    for (double s : {best - step, best + step}) {
      const double value = agreement(phase, columns, s);
      if (value > best_value && s >= low && s <= high) best = s, best_value = value;
    }
  return best;
}

// How far the answers of disjoint sets of frequencies are apart tells how good the answer of all is.
double deviation(const Spectrum& phase, int columns, double shift) {
  constexpr int sets = 4;
  constexpr double reach = 2;
  double squares = 0;
  for (int set = 0; set < sets; ++set) {
    Spectrum part(phase.size());
    for (std::size_t k = set; k < phase.size(); k += sets) part[k] = phase[k];
    const double off = best_shift(part, columns, shift - reach, shift + reach) - shift;
    squares += off * off;
  }
  return std::sqrt(squares / (sets * (sets - 1)));
}

}  // namespace

std::optional<FoundCentre> find_centre(const CentreQuestion& q) {
  const HalfTurn half = half_turn(q);
  if (half.index.empty()) return std::nullopt;
  const int count = std::clamp(q.columns / 8, 1, 64);
  const std::vector<float> turns = turns_of(q.columns, count);
  Spectrum phase(count);
  bool any = false;
  for (int s = 0; s < q.slices; ++s) {
    const float* const sino = q.sino + std::size_t(s) * q.angles * q.columns;
    any = add_wedge(radial_transforms(q, sino, half, turns, count), half, q.columns, count, phase) || any;
  }
  if (!any) return std::nullopt;
  const double middle = (q.columns - 1) / 2.0;
  const double shift = best_shift(phase, q.columns, q.guess - q.radius - middle, q.guess + q.radius - middle);
  return FoundCentre{middle + shift, deviation(phase, q.columns, shift)};
}

}  // namespace miniapps::kernels
