/* The C ABI of the compute kernels: the one header that C, C++, Python (ctypes), Java (JNA), Dask, Spark and
 * Flink include or transcribe.  Link miniapps_kernels (static) or load libpilot_kernels.so.
 *
 * Rules that hold for every function
 *  - Status: 0 (PK_OK) or a pk_code; on failure *error (may be NULL) has the code and one sentence.
 *    No exception crosses, nothing is printed, no global state except the read-only choice of instruction
 * set.
 *  - A plan is immutable after creation: any number of threads may use one plan at the same time.
 *  - A scratch belongs to one plan and one thread at a time.  With plan and scratch made, running allocates
 *    nothing; functions without a plan (cleaning, centre finding, moving centres) allocate what they need and
 *    free it.
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

#include "miniapps/kernels/kernels_base.h"
#include "miniapps/kernels/kernels_gridrec.h"
#include "miniapps/kernels/kernels_iterative.h"
#include "miniapps/kernels/kernels_kmeans.h"

#endif
