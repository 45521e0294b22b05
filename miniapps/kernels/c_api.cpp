// Version and choice of the instruction set.
#include "miniapps/kernels/c_api.hpp"

#include "hwy/highway.h"

using namespace miniapps::kernels;

extern "C" {

int32_t pk_version(void) {
  return PK_VERSION_MAJOR * 1000 + PK_VERSION_MINOR;
}

const char* pk_isa(void) {
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(supported & -supported);  // the lowest bit is the best target
}

pk_status pk_limit_isa(const char* name, pk_error* error) {
  const std::string_view wanted = name == nullptr ? "" : name;
  hwy::DisableTargets(0);
  const int64_t available = hwy::SupportedTargets() & HWY_TARGETS;
  int64_t chosen = 0;
  if (wanted == "best") {
    chosen = available;
  } else if (wanted == "avx512") {
    chosen = available & HWY_AVX3;
  } else if (wanted == "avx2") {
    chosen = available & HWY_AVX2;
  } else if (wanted == "sse4") {
    chosen = available & HWY_SSE4;
  } else if (wanted == "neon") {
    chosen = available & HWY_NEON;
  } else if (wanted == "baseline") {
    chosen = HWY_STATIC_TARGET;
  } else {
    return answer_invalid(error,
                          "unknown instruction set; it can be baseline, sse4, avx2, avx512, neon or best");
  }
  if (chosen == 0) return answer_invalid(error, "this machine or build lacks the instruction set");
  hwy::DisableTargets(~chosen);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return answer_ok(error);
}

}  // extern "C"
