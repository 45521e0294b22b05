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

// Radial transforms of the rows at k = 1 to count cycles per row: out [angle][re of all k, im of all k].
std::vector<float> radial_transforms(const CentreQuestion& q, const float* sino, const HalfTurn& half,
                                     const std::vector<float>& turns, int count) {
  std::vector<float> out(half.index.size() * 2 * count, 0.0f);
  for (std::size_t a = 0; a < half.index.size(); ++a) {
    const float* const row = sino + std::size_t(half.index[a]) * q.columns;
    float* const sum = out.data() + a * 2 * count;
    for (int d = 0; d < q.columns; ++d) {
      const float value = std::isfinite(row[d]) ? row[d] : 0.0f;
      const float* const turn = turns.data() + std::size_t(d) * 2 * count;
      for (int k = 0; k < 2 * count; ++k) sum[k] += value * turn[k];
    }
  }
  return out;
}

// Adds to phase[k] the sum over the wedge, divided by its energy.
bool add_wedge(const std::vector<float>& radial, const HalfTurn& half, int columns, int count,
               Spectrum& phase) {
  const int angles = static_cast<int>(half.index.size());
  Spectrum steps(angles);
  for (int a = 0; a < angles; ++a) steps[a] = std::polar(1.0, -half.theta[a]);
  bool any = false;
  for (int k = 0; k < count; ++k) {
    const double reach = pi * (k + 1) * 0.5;  // R = a quarter of the columns
    const int last = std::min(static_cast<int>(std::ceil(reach)) + 1, angles / 2);
    Spectrum positive(last + 1), negative(last + 1);
    for (int a = 0; a < angles; ++a) {
      const double weight = half.weight[a];
      const std::complex<double> value(weight * radial[std::size_t(a) * 2 * count + k],
                                       weight * radial[std::size_t(a) * 2 * count + count + k]);
      std::complex<double> turn = 1;
      for (int m = 0; m <= last; ++m, turn = product(turn, steps[a])) {
        positive[m] += product(value, turn);
        negative[m] += product(value, std::conj(turn));
      }
    }
    std::complex<double> sum = positive[0] * positive[0];
    double energy = std::norm(positive[0]);
    for (int m = 1; m <= last; ++m) {
      sum += (m % 2 == 0 ? 2.0 : -2.0) * positive[m] * negative[m];
      energy += std::norm(positive[m]) + std::norm(negative[m]);
    }
    if (!(energy > 1e-12 * columns)) continue;
    phase[k] += sum / energy;
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
