#include <cmath>

#include "miniapps/kernels/c_api.hpp"
#include "miniapps/kernels/clean.hpp"

using namespace miniapps::kernels;

namespace {

template <typename T>
pk_status zingers(T* data, int32_t planes, int32_t rows, int32_t columns, float threshold, int64_t* replaced,
                  pk_error* error) {
  if (planes < 0 || rows < 0 || columns < 0) return answer_invalid(error, "a size is negative");
  if (data == nullptr && planes > 0 && rows > 0 && columns > 0) return answer_invalid(error, "data is NULL");
  if (!(threshold > 0)) return answer_invalid(error, "threshold must be positive");
  return fenced(error, [&] {
    const int64_t count =
        planes > 0 && rows > 0 && columns > 0 ? remove_zingers(data, planes, rows, columns, threshold) : 0;
    if (replaced != nullptr) *replaced = count;
    return answer_ok(error);
  });
}

}  // namespace

extern "C" {

pk_status pk_remove_zingers_u16(uint16_t* data, int32_t planes, int32_t rows, int32_t columns,
                                float threshold, int64_t* replaced, pk_error* error) {
  return zingers(data, planes, rows, columns, threshold, replaced, error);
}
pk_status pk_remove_zingers_f32(float* data, int32_t planes, int32_t rows, int32_t columns, float threshold,
                                int64_t* replaced, pk_error* error) {
  return zingers(data, planes, rows, columns, threshold, replaced, error);
}

pk_status pk_remove_rings(float* sino, int32_t slices, int32_t angles, int32_t columns, int32_t window,
                          pk_error* error) {
  if (slices < 0 || angles < 0 || columns < 0) return answer_invalid(error, "a size is negative");
  if (sino == nullptr && slices > 0 && angles > 0 && columns > 0)
    return answer_invalid(error, "sino is NULL");
  if (window < 3 || window > 999 || window % 2 == 0)
    return answer_invalid(error, "window must be odd, 3 to 999");
  if (angles == 0 || columns == 0) return answer_ok(error);
  return fenced(error, [&] {
    remove_rings(sino, slices, angles, columns, window);
    return answer_ok(error);
  });
}

}  // extern "C"
