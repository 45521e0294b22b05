/* What all kernels share: status, error, version, instruction set.  Include kernels.h. */
#ifndef PILOT_MINIAPPS_KERNELS_KERNELS_BASE_H
#define PILOT_MINIAPPS_KERNELS_KERNELS_BASE_H

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
#define PK_VERSION_MINOR 1 /* grows when something is added */

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
/* For tests and bench: use at most this set ("baseline", "sse4", "avx2", "avx512", "neon", "best").  Call it
 * before other threads run kernels.  Fails with PK_INVALID_ARGUMENT when the machine lacks it or the name is
 * unknown. */
PK_API pk_status pk_limit_isa(const char* name, pk_error* error);

#ifdef __cplusplus
}
#endif
#endif
