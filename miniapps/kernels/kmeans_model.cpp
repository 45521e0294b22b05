#include "miniapps/kernels/kmeans_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "miniapps/kernels/kernels.h"
#include "miniapps/kernels/kmeans_random.hpp"

namespace miniapps::kernels {
namespace {

void update_by_decay(KmeansModel& model, const KmeansPartial& partial, double discount) {
  for (double& w : model.weights) w *= discount;
  for (int c = 0; c < model.k; ++c) {
    if (partial.counts[c] == 0) continue;
    const double n = static_cast<double>(partial.counts[c]);
    model.weights[c] += n;
    const double lambda = n / std::max(model.weights[c], 1e-16);
    for (int j = 0; j < model.d; ++j) {
      double& x = model.centres[std::size_t(c) * model.d + j];
      x = (1 - lambda) * x + lambda / n * partial.sums[std::size_t(c) * model.d + j];
    }
  }
}

// A cluster that has lost its points takes half of the greatest one.
void split_dying_cluster(KmeansModel& model) {
  const auto great = std::max_element(model.weights.begin(), model.weights.end());
  const auto least = std::min_element(model.weights.begin(), model.weights.end());
  if (!(*least < 1e-8 * *great)) return;
  const double half = (*great + *least) / 2;
  double* const from = model.centres.data() + (great - model.weights.begin()) * model.d;
  double* const to = model.centres.data() + (least - model.weights.begin()) * model.d;
  *great = *least = half;
  for (int j = 0; j < model.d; ++j) {
    const double x = from[j], p = 1e-14 * std::max(std::abs(x), 1.0);
    from[j] = x + p;
    to[j] = x - p;
  }
}

void update_by_mean(KmeansModel& model, const KmeansPartial& partial) {
  for (int c = 0; c < model.k; ++c) {
    if (partial.counts[c] == 0) continue;
    const double before = model.weights[c], after = before + static_cast<double>(partial.counts[c]);
    for (int j = 0; j < model.d; ++j) {
      double& x = model.centres[std::size_t(c) * model.d + j];
      x = (x * before + partial.sums[std::size_t(c) * model.d + j]) / after;
    }
    model.weights[c] = after;
  }
}

constexpr char magic[8] = {'P', 'K', 'M', 'E', 'A', 'N', 'S', '1'};

std::uint64_t fnv1a(const unsigned char* bytes, std::size_t size) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3ull;
  return hash;
}

void put(std::vector<unsigned char>& bytes, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<unsigned char>(value >> (8 * i)));
}
std::uint64_t get(const unsigned char* bytes, int width) {
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i) value |= std::uint64_t(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

KmeansModel::KmeansModel(int clusters, int dimensions)
    : k(clusters),
      d(dimensions),
      centres(std::size_t(k) * d),
      rounded(centres.size()),
      weights(static_cast<std::size_t>(k)) {}

void KmeansModel::round() {
  std::copy(centres.begin(), centres.end(), rounded.begin());
}

KmeansPartial::KmeansPartial(int clusters, int dimensions)
    : k(clusters),
      d(dimensions),
      sums(std::size_t(k) * d),
      counts(static_cast<std::size_t>(k)),
      block(std::size_t(d) * kmeans_block),
      banks(sums.size() <= 1024 ? 4 : 1),
      bank_sums(sums.size() * banks) {}

void KmeansPartial::clear() {
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(counts.begin(), counts.end(), 0);
  skipped = 0;
  inertia = 0;
}

void KmeansPartial::merge(const KmeansPartial& other) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  skipped += other.skipped;
  inertia += other.inertia;
}

void update_model(KmeansModel& model, const KmeansPartial& partial, int rule, double decay) {
  if (rule == PK_KMEANS_MINI_BATCH) {
    update_by_mean(model, partial);
  } else {
    double points = 0;
    for (std::int64_t n : partial.counts) points += static_cast<double>(n);
    update_by_decay(model, partial, rule == PK_KMEANS_DECAY_BATCHES ? decay : std::pow(decay, points));
    split_dying_cluster(model);
  }
  model.round();
}

void random_centres(int k, int d, std::uint64_t seed, double* centres) {
  KmeansRandom random(seed);
  for (std::size_t i = 0; i < std::size_t(k) * d; ++i) centres[i] = random.normal();
}

template <typename T>
bool plus_plus_centres(const T* points, std::int64_t n, int k, int d, std::uint64_t seed, double* centres) {
  KmeansRandom random(seed);
  std::vector<double> distance(static_cast<std::size_t>(n),
                               1.0);  // to the nearest centre so far; 0: never chosen
  for (std::int64_t i = 0; i < n; ++i)
    for (int j = 0; j < d; ++j)
      if (!std::isfinite(points[i * d + j])) distance[i] = 0;
  for (int c = 0; c < k; ++c) {
    double total = 0;
    for (double x : distance) total += x;
    if (!(total > 0)) {
      if (c == 0) return false;
      // Fewer different points than centres: the rest repeat what there is.
      std::copy_n(centres, d, centres + std::ptrdiff_t(c) * d);
      continue;
    }
    double left = random.uniform() * total;
    std::int64_t chosen = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (distance[i] <= 0) continue;
      chosen = i;
      left -= distance[i];
      if (left < 0) break;
    }
    double* const centre = centres + std::ptrdiff_t(c) * d;
    for (int j = 0; j < d; ++j) centre[j] = points[chosen * d + j];
    for (std::int64_t i = 0; i < n; ++i) {
      if (distance[i] <= 0) continue;
      double sum = 0;
      for (int j = 0; j < d; ++j) sum += (points[i * d + j] - centre[j]) * (points[i * d + j] - centre[j]);
      distance[i] = c == 0 ? sum : std::min(distance[i], sum);
    }
  }
  return true;
}
template bool plus_plus_centres(const float*, std::int64_t, int, int, std::uint64_t, double*);
template bool plus_plus_centres(const double*, std::int64_t, int, int, std::uint64_t, double*);

std::vector<unsigned char> save_model(const KmeansModel& model) {
  std::vector<unsigned char> bytes(magic, magic + sizeof magic);
  put(bytes, std::uint64_t(model.k), 4);
  put(bytes, std::uint64_t(model.d), 4);
  for (const auto* values : {&model.centres, &model.weights})
    for (double v : *values) put(bytes, std::bit_cast<std::uint64_t>(v), 8);
  put(bytes, fnv1a(bytes.data(), bytes.size()), 8);
  return bytes;
}

std::optional<KmeansModel> load_model(const unsigned char* bytes, std::size_t size, std::string* problem) {
  constexpr std::size_t header = sizeof magic + 8;
  if (size < header || std::memcmp(bytes, magic, sizeof magic) != 0) {
    *problem = "not a k-means model of version 1";
    return std::nullopt;
  }
  const std::uint64_t k = get(bytes + 8, 4), d = get(bytes + 12, 4);
  if (k < 1 || k > 4096 || d < 1 || d > 1024 || size != header + 8 * (k * d + k) + 8) {
    *problem = "the model's size does not fit its header";
    return std::nullopt;
  }
  if (get(bytes + size - 8, 8) != fnv1a(bytes, size - 8)) {
    *problem = "the model's checksum is wrong";
    return std::nullopt;
  }
  KmeansModel model(static_cast<int>(k), static_cast<int>(d));
  const unsigned char* p = bytes + header;
  for (auto* values : {&model.centres, &model.weights})
    for (double& v : *values) {
      v = std::bit_cast<double>(get(p, 8));
      p += 8;
    }
  model.round();
  return model;
}

}  // namespace miniapps::kernels
