#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "miniapps/kernels/c_api.hpp"
#include "miniapps/kernels/kmeans_model.hpp"

using namespace miniapps::kernels;

struct pk_kmeans_model {
  KmeansModel model;
};
struct pk_kmeans_partial {
  KmeansPartial partial;
};

namespace {

const char* const wrong_shape = "k must be 1 to 4096 and d 1 to 1024";
bool is_shape(int32_t k, int32_t d) {
  return k >= 1 && k <= 4096 && d >= 1 && d <= 1024;
}

template <typename T>
pk_status assign_any(const pk_kmeans_model* model, pk_kmeans_partial* partial, const T* points, int64_t n,
                     int32_t* labels, pk_error* error) {
  if (model == nullptr || partial == nullptr) return answer_invalid(error, "model or partial is NULL");
  if (n < 0 || (points == nullptr && n > 0)) return answer_invalid(error, "points is NULL or n is negative");
  if (model->model.k != partial->partial.k || model->model.d != partial->partial.d)
    return answer_invalid(error, "the partial state was made for another k or d");
  assign(model->model, partial->partial, points, n, labels);
  return answer_ok(error);
}

template <typename T>
pk_status plus_plus(const T* points, int64_t n, int32_t k, int32_t d, uint64_t seed, double* centres,
                    pk_error* error) {
  if (!is_shape(k, d)) return answer_invalid(error, wrong_shape);
  if (points == nullptr || centres == nullptr || n < 1)
    return answer_invalid(error, "there are no points or no room");
  return fenced(error, [&] {
    if (!plus_plus_centres(points, n, k, d, seed, centres))
      return answer(error, PK_BAD_DATA, "no point is finite");
    return answer_ok(error);
  });
}

template <typename T>
pk_status reassign(pk_kmeans_model* model, const T* points, int64_t n, double ratio, uint64_t seed,
                   int32_t* moved, pk_error* error) {
  if (model == nullptr) return answer_invalid(error, "model is NULL");
  if (n < 0 || (points == nullptr && n > 0)) return answer_invalid(error, "points is NULL or n is negative");
  if (!(ratio >= 0 && ratio <= 1)) return answer_invalid(error, "ratio must be 0 to 1");
  return fenced(error, [&] {
    const int count = reassign_light_centres(model->model, points, n, ratio, seed);
    if (moved != nullptr) *moved = count;
    return answer_ok(error);
  });
}

}  // namespace

extern "C" {

pk_status pk_kmeans_create(int32_t k, int32_t d, const double* centres, const double* weights,
                           pk_kmeans_model** model, pk_error* error) {
  if (model == nullptr || centres == nullptr) return answer_invalid(error, "centres or model is NULL");
  *model = nullptr;
  if (!is_shape(k, d)) return answer_invalid(error, wrong_shape);
  const std::size_t size = std::size_t(k) * d;
  if (!std::all_of(centres, centres + size, [](double v) { return std::isfinite(v); }))
    return answer_invalid(error, "a centre is not finite");
  if (weights != nullptr &&
      !std::all_of(weights, weights + k, [](double w) { return w >= 0 && std::isfinite(w); }))
    return answer_invalid(error, "a weight is negative or not finite");
  return fenced(error, [&] {
    auto* made = new pk_kmeans_model{KmeansModel(k, d)};
    std::copy_n(centres, size, made->model.centres.begin());
    if (weights != nullptr) std::copy_n(weights, k, made->model.weights.begin());
    made->model.round();
    *model = made;
    return answer_ok(error);
  });
}

void pk_kmeans_destroy(pk_kmeans_model* model) {
  delete model;
}

void pk_kmeans_get(const pk_kmeans_model* model, int32_t* k, int32_t* d, double* centres, double* weights) {
  if (model == nullptr) return;
  if (k != nullptr) *k = model->model.k;
  if (d != nullptr) *d = model->model.d;
  if (centres != nullptr) std::copy(model->model.centres.begin(), model->model.centres.end(), centres);
  if (weights != nullptr) std::copy(model->model.weights.begin(), model->model.weights.end(), weights);
}

pk_status pk_kmeans_random_centres(int32_t k, int32_t d, uint64_t seed, double* centres, pk_error* error) {
  if (!is_shape(k, d)) return answer_invalid(error, wrong_shape);
  if (centres == nullptr) return answer_invalid(error, "centres is NULL");
  random_centres(k, d, seed, centres);
  return answer_ok(error);
}

pk_status pk_kmeans_plus_plus_f32(const float* points, int64_t n, int32_t k, int32_t d, uint64_t seed,
                                  double* centres, pk_error* error) {
  return plus_plus(points, n, k, d, seed, centres, error);
}
pk_status pk_kmeans_plus_plus_f64(const double* points, int64_t n, int32_t k, int32_t d, uint64_t seed,
                                  double* centres, pk_error* error) {
  return plus_plus(points, n, k, d, seed, centres, error);
}

pk_status pk_kmeans_partial_create(int32_t k, int32_t d, pk_kmeans_partial** partial, pk_error* error) {
  if (partial == nullptr) return answer_invalid(error, "partial is NULL");
  *partial = nullptr;
  if (!is_shape(k, d)) return answer_invalid(error, wrong_shape);
  return fenced(error, [&] {
    *partial = new pk_kmeans_partial{KmeansPartial(k, d)};
    return answer_ok(error);
  });
}

void pk_kmeans_partial_destroy(pk_kmeans_partial* partial) {
  delete partial;
}

void pk_kmeans_partial_clear(pk_kmeans_partial* partial) {
  if (partial != nullptr) partial->partial.clear();
}

pk_status pk_kmeans_assign_f32(const pk_kmeans_model* model, pk_kmeans_partial* partial, const float* points,
                               int64_t n, int32_t* labels, pk_error* error) {
  return assign_any(model, partial, points, n, labels, error);
}
pk_status pk_kmeans_assign_f64(const pk_kmeans_model* model, pk_kmeans_partial* partial, const double* points,
                               int64_t n, int32_t* labels, pk_error* error) {
  return assign_any(model, partial, points, n, labels, error);
}

pk_status pk_kmeans_partial_merge(pk_kmeans_partial* into, const pk_kmeans_partial* from, pk_error* error) {
  if (into == nullptr || from == nullptr) return answer_invalid(error, "into or from is NULL");
  if (into->partial.k != from->partial.k || into->partial.d != from->partial.d)
    return answer_invalid(error, "the partial states have different k or d");
  into->partial.merge(from->partial);
  return answer_ok(error);
}

void pk_kmeans_partial_get(const pk_kmeans_partial* partial, double* sums, int64_t* counts, int64_t* skipped,
                           double* inertia) {
  if (partial == nullptr) return;
  const KmeansPartial& p = partial->partial;
  if (sums != nullptr) std::copy(p.sums.begin(), p.sums.end(), sums);
  if (counts != nullptr) std::copy(p.counts.begin(), p.counts.end(), counts);
  if (skipped != nullptr) *skipped = p.skipped;
  if (inertia != nullptr) *inertia = p.inertia;
}

pk_status pk_kmeans_partial_add(pk_kmeans_partial* partial, const double* sums, const int64_t* counts,
                                int64_t skipped, double inertia, pk_error* error) {
  if (partial == nullptr || sums == nullptr || counts == nullptr)
    return answer_invalid(error, "partial, sums or counts is NULL");
  KmeansPartial& p = partial->partial;
  if (skipped < 0 || std::any_of(counts, counts + p.k, [](int64_t n) { return n < 0; }))
    return answer_invalid(error, "a count is negative");
  for (std::size_t i = 0; i < p.sums.size(); ++i) p.sums[i] += sums[i];
  for (int c = 0; c < p.k; ++c) p.counts[c] += counts[c];
  p.skipped += skipped;
  p.inertia += inertia;
  return answer_ok(error);
}

pk_status pk_kmeans_update(pk_kmeans_model* model, const pk_kmeans_partial* partial, int32_t rule,
                           double decay, pk_error* error) {
  if (model == nullptr || partial == nullptr) return answer_invalid(error, "model or partial is NULL");
  if (model->model.k != partial->partial.k || model->model.d != partial->partial.d)
    return answer_invalid(error, "the partial state was made for another k or d");
  if (rule < PK_KMEANS_DECAY_BATCHES || rule > PK_KMEANS_MINI_BATCH)
    return answer_invalid(error, "rule must be 0 (decay by batches), 1 (decay by points) or 2 (mini-batch)");
  if (rule != PK_KMEANS_MINI_BATCH && !(decay >= 0 && std::isfinite(decay)))
    return answer_invalid(error, "decay must be a number from 0 up");
  update_model(model->model, partial->partial, rule, decay);
  return answer_ok(error);
}

pk_status pk_kmeans_reassign_f32(pk_kmeans_model* model, const float* points, int64_t n, double ratio,
                                 uint64_t seed, int32_t* moved, pk_error* error) {
  return reassign(model, points, n, ratio, seed, moved, error);
}
pk_status pk_kmeans_reassign_f64(pk_kmeans_model* model, const double* points, int64_t n, double ratio,
                                 uint64_t seed, int32_t* moved, pk_error* error) {
  return reassign(model, points, n, ratio, seed, moved, error);
}

int32_t pk_kmeans_reassign_due(const pk_kmeans_model* model, int64_t points_since) {
  if (model == nullptr) return 0;
  const std::vector<double>& weights = model->model.weights;
  return points_since >= 10 * int64_t{model->model.k} ||
         std::find(weights.begin(), weights.end(), 0.0) != weights.end();
}

double pk_kmeans_decay_of_half_life(double half_life) {
  return half_life > 0 ? std::exp(std::log(0.5) / half_life) : std::numeric_limits<double>::quiet_NaN();
}

pk_status pk_kmeans_save(const pk_kmeans_model* model, void* buffer, int64_t* size, pk_error* error) {
  if (model == nullptr || size == nullptr) return answer_invalid(error, "model or size is NULL");
  return fenced(error, [&] {
    const std::vector<unsigned char> bytes = save_model(model->model);
    const int64_t needed = static_cast<int64_t>(bytes.size()), room = *size;
    *size = needed;
    if (buffer == nullptr) return answer_ok(error);
    if (room < needed) return answer_invalid(error, "the buffer is too small");
    std::copy(bytes.begin(), bytes.end(), static_cast<unsigned char*>(buffer));
    return answer_ok(error);
  });
}

pk_status pk_kmeans_load(const void* buffer, int64_t size, pk_kmeans_model** model, pk_error* error) {
  if (model == nullptr || buffer == nullptr || size < 0)
    return answer_invalid(error, "buffer or model is NULL");
  *model = nullptr;
  return fenced(error, [&] {
    std::string problem;
    auto loaded = load_model(static_cast<const unsigned char*>(buffer), std::size_t(size), &problem);
    if (!loaded) return answer(error, PK_BAD_DATA, problem);
    *model = new pk_kmeans_model{std::move(*loaded)};
    return answer_ok(error);
  });
}

}  // extern "C"
