/* Streaming k-means.  Include kernels.h, which has the rules.
 *
 * A model (k centres of d numbers, with weights) is only read while points are assigned, so many threads,
 * processes or machines may assign at once, each into its own partial state; partial states add up, and one
 * update makes the next model.  The sums are kept in double: merged in any order they give the result of one
 * worker up to rounding. */
#ifndef PILOT_MINIAPPS_KERNELS_KERNELS_KMEANS_H
#define PILOT_MINIAPPS_KERNELS_KERNELS_KMEANS_H

#include "miniapps/kernels/kernels_base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pk_kmeans_rule {
  /* Spark MLlib's StreamingKMeans: all weights times the discount; a centre with n points of sum s gets w +=
   * n, c = (1 - n/w) c + s/w; then, if the least weight is below 1e-8 of the greatest, both get the half of
   * their sum and the great centre moved by +-1e-14 max(|c|, 1).  Discount: decay, or decay^(points of the
   * batch). */
  PK_KMEANS_DECAY_BATCHES = 0,
  PK_KMEANS_DECAY_POINTS = 1,
  /* scikit-learn's MiniBatchKMeans: c = (c w + s) / (w + n); decay is not used.  Its random reassignment is
   * pk_kmeans_reassign_*. */
  PK_KMEANS_MINI_BATCH = 2
};

typedef struct pk_kmeans_model pk_kmeans_model;
typedef struct pk_kmeans_partial pk_kmeans_partial;

/* centres [k][d]; weights [k] or NULL (0).  1 <= k <= 4096, 1 <= d <= 1024; all finite, weights not negative.
 */
PK_API pk_status pk_kmeans_create(int32_t k, int32_t d, const double* centres, const double* weights,
                                  pk_kmeans_model** model, pk_error* error);
PK_API void pk_kmeans_destroy(pk_kmeans_model* model);
/* Any pointer may be NULL; centres [k][d], weights [k]. */
PK_API void pk_kmeans_get(const pk_kmeans_model* model, int32_t* k, int32_t* d, double* centres,
                          double* weights);

/* Starting centres [k][d], the same for the same seed: normally distributed (mean 0, deviation 1), or
 * k-means++ (Arthur, Vassilvitskii 2007) from points [n][d]; points that are not finite are not chosen. */
PK_API pk_status pk_kmeans_random_centres(int32_t k, int32_t d, uint64_t seed, double* centres,
                                          pk_error* error);
PK_API pk_status pk_kmeans_plus_plus_f32(const float* points, int64_t n, int32_t k, int32_t d, uint64_t seed,
                                         double* centres, pk_error* error);
PK_API pk_status pk_kmeans_plus_plus_f64(const double* points, int64_t n, int32_t k, int32_t d, uint64_t seed,
                                         double* centres, pk_error* error);

/* An empty state for models of that shape; also the scratch of one thread. */
PK_API pk_status pk_kmeans_partial_create(int32_t k, int32_t d, pk_kmeans_partial** partial, pk_error* error);
PK_API void pk_kmeans_partial_destroy(pk_kmeans_partial* partial);
PK_API void pk_kmeans_partial_clear(pk_kmeans_partial* partial);
/* Adds points [n][d] to the nearest centres (Euclidean; ties to the lowest index).  labels [n] or NULL; a
 * point with a value that is not finite gets label -1, counts as skipped and is in no sum.  f32 points are
 * compared in float with centres rounded to float (squared distances beyond its range count as not finite),
 * f64 in double.  Allocates nothing. */
PK_API pk_status pk_kmeans_assign_f32(const pk_kmeans_model* model, pk_kmeans_partial* partial,
                                      const float* points, int64_t n, int32_t* labels, pk_error* error);
PK_API pk_status pk_kmeans_assign_f64(const pk_kmeans_model* model, pk_kmeans_partial* partial,
                                      const double* points, int64_t n, int32_t* labels, pk_error* error);
/* into += from */
PK_API pk_status pk_kmeans_partial_merge(pk_kmeans_partial* into, const pk_kmeans_partial* from,
                                         pk_error* error);
/* The state as numbers, to be sent and added elsewhere: sums [k][d], counts [k]; skipped and inertia (sum of
 * squared distances to the nearest centre) single values.  get: any pointer may be NULL. */
PK_API void pk_kmeans_partial_get(const pk_kmeans_partial* partial, double* sums, int64_t* counts,
                                  int64_t* skipped, double* inertia);
PK_API pk_status pk_kmeans_partial_add(pk_kmeans_partial* partial, const double* sums, const int64_t* counts,
                                       int64_t skipped, double inertia, pk_error* error);

/* The next model, in place, from the sums of one batch.  decay >= 0; see pk_kmeans_decay_of_half_life. */
PK_API pk_status pk_kmeans_update(pk_kmeans_model* model, const pk_kmeans_partial* partial, int32_t rule,
                                  double decay, pk_error* error);
/* The other half of scikit-learn's rule, after the update, with points [n][d] of the batch: centres whose
 * weight is below ratio (0.01 is usual, 0 to 1) times the greatest move to points of the batch drawn without
 * repetition, and get the least weight of those that stay.  At most n / 2 centres move, the lightest; points
 * that are not finite are not drawn.  The same for the same seed: give each batch its own.  moved (may be
 * NULL): how many.
 *
 * Due, says scikit-learn, when there were 10 k points since the last time or a weight is 0, which is asked
 * before the update; pk_kmeans_reassign_due gives 1 then, else 0. */
PK_API pk_status pk_kmeans_reassign_f32(pk_kmeans_model* model, const float* points, int64_t n, double ratio,
                                        uint64_t seed, int32_t* moved, pk_error* error);
PK_API pk_status pk_kmeans_reassign_f64(pk_kmeans_model* model, const double* points, int64_t n, double ratio,
                                        uint64_t seed, int32_t* moved, pk_error* error);
PK_API int32_t pk_kmeans_reassign_due(const pk_kmeans_model* model, int64_t points_since);
/* exp(ln(0.5) / half_life), half_life > 0 in batches or points. */
PK_API double pk_kmeans_decay_of_half_life(double half_life);

/* The model as bytes (magic, version, k, d, centres, weights, checksum; little-endian).  buffer NULL: *size
 * gets the bytes needed; otherwise *size is the room, and gets the bytes written. */
PK_API pk_status pk_kmeans_save(const pk_kmeans_model* model, void* buffer, int64_t* size, pk_error* error);
PK_API pk_status pk_kmeans_load(const void* buffer, int64_t size, pk_kmeans_model** model, pk_error* error);

#ifdef __cplusplus
}
#endif
#endif
