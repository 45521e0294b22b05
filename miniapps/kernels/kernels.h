/* The C ABI of the compute kernels: the one header that C, C++, Python (ctypes), Java (JNA), Dask, Spark and
 * Flink include or transcribe.  Link miniapps_kernels (static) or load libpilot_kernels.so.
 *
 * Rules that hold for every function
 *  - Status: 0 (PK_OK) or a pk_code; on failure *error (may be NULL) has the code and one sentence.
 *    No exception crosses, nothing is printed, no global state except the read-only choice of instruction
 * set.
 *  - A plan is immutable after creation: any number of threads may use one plan at the same time.
 *  - A scratch belongs to one plan and one thread at a time.  With plan and scratch made, running allocates
 * nothing.
 *  - Arrays are C-order, contiguous, little-endian, in the caller's memory, which must outlive the call only.
 *    Alignment: that of the element.  Input and output must not overlap unless it is said.
 *  - Results are the same bits for any number of threads, any split of the slices into calls, and from run to
 *    run, on one class of instruction set.  GridRec gives the same bits with AVX2 and AVX-512; other kernels,
 * and the sets without fused multiply-add, differ in the last bits.
 *
 * Geometry (parallel beam, one for all kernels)
 *  - Lengths are in detector bins (= image pixels).  theta in radians.  A ray is s = x cos(theta) + y
 * sin(theta).
 *  - Bin d is a point at integer d; `centre` is the rotation axis in bins, (columns-1)/2 for a symmetric
 * detector; so bin d measures s = d - centre.
 *  - Images are [row][col], row 0 at the top (largest y).  In an image of N x N pixels around the axis the
 * centre of pixel (row, col) is x = col + 0.5 - N/2, y = N/2 - (row + 0.5): the axis is in the middle for odd
 * and even N.
 *  - Values are attenuation per bin width: an object of value 1 and diameter D gives line integrals up to D,
 * and is read back as 1 (GridRec: 1.000 +- 0.002 with padding >= 2).
 */
#ifndef PILOT_MINIAPPS_KERNELS_KERNELS_H
#define PILOT_MINIAPPS_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PK_API __attribute__((visibility("default")))
#else
#define PK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PK_VERSION_MAJOR 1 /* changes when something below changes its meaning or layout */
#define PK_VERSION_MINOR 0 /* grows when something is added */

typedef int32_t pk_status;
enum pk_code {
  PK_OK = 0,
  PK_INVALID_ARGUMENT = 1, /* a value or a combination that has no meaning; the message names it */
  PK_OUT_OF_MEMORY = 2,
  PK_BAD_DATA = 3, /* the data don't allow an answer (e.g. no centre can be found in a constant sinogram) */
  PK_INTERNAL = 4
};

typedef struct pk_error {
  int32_t code;
  char message[252]; /* UTF-8, zero-terminated */
} pk_error;

/* major * 1000 + minor of the library that is loaded; compare with the macros above. */
PK_API int32_t pk_version(void);
/* The instruction set in use, e.g. "AVX3", "AVX2", "SSE2".  A static string. */
PK_API const char* pk_isa(void);
/* For tests and bench: use at most this set ("baseline", "sse4", "avx2", "avx512", "best").  Call it before
 * other threads run kernels.  Fails with PK_INVALID_ARGUMENT when the machine lacks it or the name is
 * unknown. */
PK_API pk_status pk_limit_isa(const char* name, pk_error* error);

/* ---- Pre-processing
 * ------------------------------------------------------------------------------------------- */

/* Transmission and minus-log in one pass:
 *   out[s][a][c] = -log(clamp((raw[s][a][c] - dark[s][c]) / (flat[s][c] - dark[s][c]), floor, ceiling))
 * raw [slices][angles][columns]; flat, dark [slices][columns] are means over frames (pk_mean_frames_*), dark
 * may be NULL (0); flat NULL means that raw are transmissions already.  floor > 0 bounds opaque, negative and
 * NaN counts (1e-6 is usual); ceiling bounds glare (INFINITY: none).  Where flat - dark is not a positive
 * number (dead pixel) the value is interpolated from the nearest live columns of the row; a row without any
 * is 0. f32 only: out == raw is allowed. */
PK_API pk_status pk_normalize_minus_log_u16(const uint16_t* raw, const float* flat, const float* dark,
                                            int32_t slices, int32_t angles, int32_t columns, float floor,
                                            float ceiling, float* out, pk_error* error);
PK_API pk_status pk_normalize_minus_log_f32(const float* raw, const float* flat, const float* dark,
                                            int32_t slices, int32_t angles, int32_t columns, float floor,
                                            float ceiling, float* out, pk_error* error);

/* Mean over the frames: in [frames][pixels] -> mean [pixels]; values that are not finite are left out. */
PK_API pk_status pk_mean_frames_u16(const uint16_t* in, int32_t frames, int64_t pixels, float* mean,
                                    pk_error* error);
PK_API pk_status pk_mean_frames_f32(const float* in, int32_t frames, int64_t pixels, float* mean,
                                    pk_error* error);

/* Sets pixels outside the circle of radius ratio * min(rows, cols) / 2 around the image's middle to `value`.
 * image [slices][rows][cols], in place. */
PK_API pk_status pk_circ_mask(float* image, int32_t slices, int32_t rows, int32_t cols, double ratio,
                              float value, pk_error* error);

/* Finds the rotation axis from minus-log data of one scan, sino [slices][angles][columns] (several slices
 * make it sturdier), theta [angles] covering at least half a turn.  Looks in guess +- radius, guess NAN: the
 * middle; radius <= 0: a quarter of the columns.  Precision about 0.1 bin.  *centre in bins as above. */
PK_API pk_status pk_find_centre(const float* sino, const double* theta, int32_t slices, int32_t angles,
                                int32_t columns, double guess, double radius, double* centre,
                                pk_error* error);

/* ---- GridRec: filtered back-projection by regridding in Fourier space
 * ------------------------------------------- */

/* Frequency responses over f in cycles per bin, p0 = cut-off, p1 = order (TomoPy's names and defaults .5 and
 * 8): ramlak 2|f|; shepp 2|f| sinc(f); cosine 2|f| cos(pi f); hann 2|f| (.5 + .5 cos(2 pi f/p0)); hamming
 * .54/.46; parzen 2|f| (1 - f/p0)^3; butterworth 2|f| / (1 + (f/p0)^(2 p1)); none 1 (no ramp: a plain
 * back-projection, scaled like the others).  The ramp is sampled in space (Kak & Slaney 1988, eq. 3.61): its
 * DC term is right.  hann and hamming are periodic in p0, as TomoPy has them: p0 = 1 falls to the highest
 * frequency. */
enum pk_filter {
  PK_FILTER_NONE = 0,
  PK_FILTER_RAMLAK = 1,
  PK_FILTER_SHEPP = 2,
  PK_FILTER_COSINE = 3,
  PK_FILTER_HANN = 4,
  PK_FILTER_HAMMING = 5,
  PK_FILTER_PARZEN = 6,
  PK_FILTER_BUTTERWORTH = 7
};

enum pk_edge {
  PK_EDGE_ZERO = 0,  /* the object ends inside the field of view */
  PK_EDGE_REPEAT = 1 /* the object is larger: continue with the edge values, so that no bright ring appears */
};

typedef struct pk_gridrec_desc {
  uint32_t struct_size; /* sizeof(pk_gridrec_desc), set by pk_gridrec_desc_init */
  int32_t angles;       /* >= 1 */
  int32_t columns;      /* >= 2, any number */
  int32_t filter;       /* pk_filter; default shepp */
  const double* theta;  /* [angles] radians, any order and spacing; copied */
  double filter_p0;     /* 0 < p0 <= 1; default 0.5 */
  double filter_p1;     /* > 0; default 8 */
  double padding;       /* length of the filtering transform / columns, 1 to 8; default 2 */
  double oversampling;  /* size of the 2-D grid / columns, 1 to 8; 0 (default): chosen: 1 when padding < 1.25,
                           else 1.125.  Sizes are rounded up to a product of 2, 3 and 5. */
  double kernel_error;  /* wanted relative error of the interpolation, 1e-6 to 1e-1; default 5e-3 */
  int32_t edge;         /* pk_edge; default zero */
  int32_t
      image_size; /* N: the image is N x N around the axis; 0 (default): columns; at most the grid's size */
  int32_t row0, col0; /* region of interest in that image; default 0, 0 */
  int32_t rows, cols; /* 0 (default): to the end */
} pk_gridrec_desc;

typedef struct pk_gridrec_plan pk_gridrec_plan;
typedef struct pk_gridrec_scratch pk_gridrec_scratch;

PK_API void pk_gridrec_desc_init(pk_gridrec_desc* desc, int32_t angles, int32_t columns, const double* theta);
PK_API pk_status pk_gridrec_plan_create(const pk_gridrec_desc* desc, pk_gridrec_plan** plan, pk_error* error);
PK_API void pk_gridrec_plan_destroy(pk_gridrec_plan* plan); /* NULL is fine */
/* The image that run() writes, and the sizes of filtering transform and grid (any pointer may be NULL). */
PK_API void pk_gridrec_plan_shape(const pk_gridrec_plan* plan, int32_t* rows, int32_t* cols,
                                  int32_t* transform, int32_t* grid);

/* max_slices: how many slices run() is usually given (a hint that sizes the buffers; any number works; 0:
 * many). */
PK_API pk_status pk_gridrec_scratch_create(const pk_gridrec_plan* plan, int32_t max_slices,
                                           pk_gridrec_scratch** scratch, pk_error* error);
PK_API void pk_gridrec_scratch_destroy(pk_gridrec_scratch* scratch);

/* sino [slices][angles][columns] minus-log data; centres [slices] in bins, NULL: the middle for all;
 * out [slices][rows][cols].  Values that are not finite count as 0. */
PK_API pk_status pk_gridrec_run(const pk_gridrec_plan* plan, pk_gridrec_scratch* scratch, const float* sino,
                                const double* centres, int32_t slices, float* out, pk_error* error);

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
