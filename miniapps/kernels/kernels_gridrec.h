/* Pre-processing and GridRec.  Include kernels.h, which has the rules and the geometry. */
#ifndef PILOT_MINIAPPS_KERNELS_KERNELS_GRIDREC_H
#define PILOT_MINIAPPS_KERNELS_KERNELS_GRIDREC_H

#include "miniapps/kernels/kernels_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Pre-processing
 * ------------------------------------------------------------------------------------------- */

/* Transmission and minus-log in one pass:
 *   out[s][a][c] = -log(clamp((raw[s][a][c] - dark[s][c]) / (flat[s][c] - dark[s][c]), floor, ceiling))
 * raw [slices][angles][columns]; flat, dark [slices][columns] are means over frames (pk_mean_frames_*), dark
 * may be NULL (0); flat NULL means that raw are transmissions already.  floor > 0 bounds opaque, negative and
 * NaN counts (1e-6 is usual); ceiling bounds glare (INFINITY: none).  Where flat - dark is not above a
 * fiftieth of the slice's median (dead pixel) the value is interpolated from the nearest live columns of the
 * row; a row without any is 0.  f32 only: out == raw is allowed. */
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

/* Replaces values that stand more than `threshold` above the median of their eight neighbours in a plane
 * [rows][columns] (stray photons), and values that are not finite, by that median; in place.  For raw data
 * the planes are projections or sinograms; flats and darks are cleaned apart, each frame a plane, before
 * their mean.  replaced may be NULL. */
PK_API pk_status pk_remove_zingers_u16(uint16_t* data, int32_t planes, int32_t rows, int32_t columns,
                                       float threshold, int64_t* replaced, pk_error* error);
PK_API pk_status pk_remove_zingers_f32(float* data, int32_t planes, int32_t rows, int32_t columns,
                                       float threshold, int64_t* replaced, pk_error* error);

/* Takes out stripes of minus-log data, which would become rings, by the sorting method of Vo et al. 2018
 * (algorithm 3); sino [slices][angles][columns] in place.  window: odd, wider than twice the widest stripe
 * (21 is usual). */
PK_API pk_status pk_remove_rings(float* sino, int32_t slices, int32_t angles, int32_t columns, int32_t window,
                                 pk_error* error);

/* Sets pixels outside the circle of radius ratio * min(rows, cols) / 2 around the image's middle to `value`.
 * image [slices][rows][cols], in place. */
PK_API pk_status pk_circ_mask(float* image, int32_t slices, int32_t rows, int32_t cols, double ratio,
                              float value, pk_error* error);

/* Finds the rotation axis from minus-log data of one scan, sino [slices][angles][columns] (several slices
 * make it sturdier), theta [angles] covering at least half a turn.  Looks in guess +- radius, guess NAN: the
 * middle; radius <= 0: a quarter of the columns.  The double wedge of the Fourier transform (Vo et al. 2014)
 * gives it to 0.01 bin where counts are many, to 0.5 where they are a few hundred; the spread of its
 * frequencies tells, and accordingly the answer moves to that of pk_refine_centre.  Precision 0.02 to 0.2
 * bin.  *centre in bins as above. */
PK_API pk_status pk_find_centre(const float* sino, const double* theta, int32_t slices, int32_t angles,
                                int32_t columns, double guess, double radius, double* centre,
                                pk_error* error);

/* The axis near a guess whose picture has the least entropy (Donath et al. 2006), from the two slices with
 * the most in them.  theta may cover any range.  Looks in guess +- radius bins, radius <= 0: 1.5, and up to
 * two radii further if the least entropy lies outside.  Precision 0.02 bin
 * for each 400 columns begun, 0.1 where counts are few. */
PK_API pk_status pk_refine_centre(const float* sino, const double* theta, int32_t slices, int32_t angles,
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

#ifdef __cplusplus
}
#endif
#endif
