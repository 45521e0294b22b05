#include <algorithm>
#include <cmath>
#include <numeric>

#include "miniapps/kernels/kmeans_model.hpp"
#include "miniapps/kernels/kmeans_random.hpp"

namespace miniapps::kernels {
namespace {

// Centres lighter than ratio times the heaviest; of more than half as many as there are points the lightest.
std::vector<int> light_centres(const KmeansModel& model, std::int64_t points, double ratio) {
  const double least = ratio * *std::max_element(model.weights.begin(), model.weights.end());
  std::vector<int> order(model.k);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return model.weights[a] < model.weights[b]; });
  const auto end =
      std::find_if(order.begin(), order.end(), [&](int c) { return !(model.weights[c] < least); });
  order.erase(end, order.end());
  if (static_cast<std::int64_t>(order.size()) > points / 2) order.resize(points / 2);
  std::sort(order.begin(), order.end());
  return order;
}

// `count` different ones of the finite points, all alike likely (reservoir sampling); fewer if there are.
template <typename T>
std::vector<std::int64_t> choose(const T* points, std::int64_t n, int d, std::size_t count,
                                 std::uint64_t seed) {
  KmeansRandom random(seed);
  std::vector<std::int64_t> chosen;
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T* const point = points + i * d;
    if (!std::all_of(point, point + d, [](T v) { return std::isfinite(v); })) continue;
    ++seen;
    if (chosen.size() < count) {
      chosen.push_back(i);
      continue;
    }
    const auto place = static_cast<std::size_t>(random.uniform() * static_cast<double>(seen));
    if (place < count) chosen[place] = i;
  }
  return chosen;
}

}  // namespace

template <typename T>
int reassign_light_centres(KmeansModel& model, const T* points, std::int64_t n, double ratio,
                           std::uint64_t seed) {
  std::vector<int> light = light_centres(model, n, ratio);
  if (light.empty()) return 0;
  const std::vector<std::int64_t> chosen = choose(points, n, model.d, light.size(), seed);
  light.resize(chosen.size());
  double least = INFINITY;
  for (int c = 0, next = 0; c < model.k; ++c) {
    if (next < static_cast<int>(light.size()) && light[next] == c)
      ++next;
    else
      least = std::min(least, model.weights[c]);
  }
  for (std::size_t i = 0; i < light.size(); ++i) {
    std::copy_n(points + chosen[i] * model.d, model.d,
                model.centres.begin() + std::ptrdiff_t(light[i]) * model.d);
    model.weights[light[i]] = least;
  }
  model.round();
  return static_cast<int>(light.size());
}
template int reassign_light_centres(KmeansModel&, const float*, std::int64_t, double, std::uint64_t);
template int reassign_light_centres(KmeansModel&, const double*, std::int64_t, double, std::uint64_t);

}  // namespace miniapps::kernels
