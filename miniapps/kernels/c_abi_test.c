/* The header and the shared library from plain C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "miniapps/kernels/kernels.h"

enum { ANGLES = 90, COLUMNS = 65 };

static int failures = 0;
static void check(int ok, const char* what) {
  if (ok) return;
  ++failures;
  fprintf(stderr, "failed: %s\n", what);
}

int main(void) {
  static double theta[ANGLES];
  static float sino[ANGLES * COLUMNS], image[COLUMNS * COLUMNS];
  pk_error error;
  pk_gridrec_desc desc;
  pk_gridrec_plan* plan = NULL;
  pk_gridrec_scratch* scratch = NULL;
  int a, c;
  double mean = 0;
  check(pk_version() == PK_VERSION_MAJOR * 1000 + PK_VERSION_MINOR, "version");
  check(strlen(pk_isa()) > 2, "isa");
  for (a = 0; a < ANGLES; ++a) {
    theta[a] = 3.14159265358979 * a / ANGLES;
    for (c = 0; c < COLUMNS; ++c) { /* a disc of radius 20 and value 1 */
      const double s = c - 32.0;
      sino[a * COLUMNS + c] = fabs(s) < 20 ? (float)(2 * sqrt(400 - s * s)) : 0.0f;
    }
  }
  pk_gridrec_desc_init(&desc, ANGLES, COLUMNS, theta);
  check(pk_gridrec_plan_create(&desc, &plan, &error) == PK_OK, error.message);
  check(pk_gridrec_scratch_create(plan, 1, &scratch, &error) == PK_OK, error.message);
  check(pk_gridrec_run(plan, scratch, sino, NULL, 1, image, &error) == PK_OK, error.message);
  for (a = 25; a < 40; ++a)
    for (c = 25; c < 40; ++c) mean += image[a * COLUMNS + c] / 225;
  check(fabs(mean - 1) < 0.01, "the disc reads one");
  desc.filter = 99;
  pk_gridrec_scratch_destroy(scratch);
  pk_gridrec_plan_destroy(plan);
  check(pk_gridrec_plan_create(&desc, &plan, &error) == PK_INVALID_ARGUMENT, "a wrong filter is refused");
  check(plan == NULL && strstr(error.message, "filter") != NULL, "the message names it");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
