/* ML-EM, OS-EM, SIRT.  Include kernels.h, which has the rules and the geometry. */
#ifndef PILOT_MINIAPPS_KERNELS_KERNELS_ITERATIVE_H
#define PILOT_MINIAPPS_KERNELS_KERNELS_ITERATIVE_H

#include "miniapps/kernels/kernels_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Iterative reconstruction: ML-EM, OS-EM, SIRT ---------------------------------------------------------
 */

/* One projector A for all, and its exact transpose: the integrals along the rays through the bins' middles
 * over square pixels (Siddon 1985).  Axis, pixels and values as GridRec's. */
enum pk_iterative_method {
  PK_MLEM = 0, /* Shepp, Vardi 1982: x <- x A'(y/Ax) / A'1; negative data count as 0 */
  PK_OSEM = 1, /* Hudson, Larkin 1994: the same with every subsets-th angle in turn */
  PK_SIRT = 2  /* x <- x + relaxation C A' R (y - Ax), R and C the inverse sums of A's rows and columns */
};

typedef struct pk_iterative_desc {
  uint32_t struct_size; /* set by pk_iterative_desc_init */
  int32_t angles, columns;
  const double* theta; /* [angles] radians; copied */
  int32_t method;
  int32_t subsets;    /* OS-EM: 1 to angles; default 1 */
  int32_t image_size; /* N of N x N; 0 (default): columns */
  int32_t reserved;
  double relaxation; /* SIRT: above 0, below 2; default 1 */
  double tolerance; /* stop when an iteration lowers the objective by less than this part; default 0: never */
} pk_iterative_desc;

typedef struct pk_iterative_plan pk_iterative_plan;
typedef struct pk_iterative_scratch pk_iterative_scratch;

PK_API void pk_iterative_desc_init(pk_iterative_desc* desc, int32_t angles, int32_t columns,
                                   const double* theta);
PK_API pk_status pk_iterative_plan_create(const pk_iterative_desc* desc, pk_iterative_plan** plan,
                                          pk_error* error);
PK_API void pk_iterative_plan_destroy(pk_iterative_plan* plan);
PK_API pk_status pk_iterative_scratch_create(const pk_iterative_plan* plan, pk_iterative_scratch** scratch,
                                             pk_error* error);
PK_API void pk_iterative_scratch_destroy(pk_iterative_scratch* scratch);

/* sino [slices][angles][columns], centres [slices] or NULL as in pk_gridrec_run; image [slices][N][N], in and
 * out with warm_start != 0, else out only.  1 <= iterations <= 100000.  done [slices] (may be NULL):
 * iterations made. objective (may be NULL) [slices][iterations]: before each iteration, for (OS-)EM the
 * Kullback-Leibler divergence sum(y log(y/Ax) - y + Ax), which ML-EM never raises, for SIRT half the squared
 * residual; NaN when not reached. */
PK_API pk_status pk_iterative_run(const pk_iterative_plan* plan, pk_iterative_scratch* scratch,
                                  const float* sino, const double* centres, int32_t slices,
                                  int32_t iterations, int32_t warm_start, float* image, int32_t* done,
                                  double* objective, pk_error* error);
/* The projector by itself: A x and A' y. */
PK_API pk_status pk_project(const pk_iterative_plan* plan, pk_iterative_scratch* scratch, const float* image,
                            const double* centres, int32_t slices, float* sino, pk_error* error);
PK_API pk_status pk_back_project(const pk_iterative_plan* plan, pk_iterative_scratch* scratch,
                                 const float* sino, const double* centres, int32_t slices, float* image,
                                 pk_error* error);

#ifdef __cplusplus
}
#endif
#endif
