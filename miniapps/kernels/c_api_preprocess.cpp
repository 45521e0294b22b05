#include <cmath>

#include "miniapps/kernels/c_api.hpp"
#include "miniapps/kernels/centre_entropy.hpp"
#include "miniapps/kernels/preprocess.hpp"

using namespace miniapps::kernels;

namespace {

template <typename T>
pk_status normalize(const T* raw, const float* flat, const float* dark, int32_t slices, int32_t angles,
                    int32_t columns, float floor, float ceiling, float* out, pk_error* error) {
  if (slices < 0 || angles < 0 || columns < 0) return answer_invalid(error, "a size is negative");
  if ((raw == nullptr || out == nullptr) && slices > 0 && angles > 0 && columns > 0)
    return answer_invalid(error, "raw or out is NULL");
  if (!(floor > 0) || !std::isfinite(floor)) return answer_invalid(error, "floor must be a positive number");
  if (!(ceiling > floor)) return answer_invalid(error, "ceiling must be above floor");
  return fenced(error, [&] {
    normalize_minus_log(raw, flat, dark, slices, angles, columns, floor, ceiling, out);
    return answer_ok(error);
  });
}

template <typename T>
pk_status mean(const T* in, int32_t frames, int64_t pixels, float* out, pk_error* error) {
  if (frames < 1 || pixels < 0)
    return answer_invalid(error, "frames must be at least 1, pixels not negative");
  if ((in == nullptr || out == nullptr) && pixels > 0) return answer_invalid(error, "in or mean is NULL");
  mean_frames(in, frames, pixels, out);
  return answer_ok(error);
}

// What is wrong with a scan whose centre is asked for; NULL: nothing.
const char* check_scan(const float* sino, const double* theta, int32_t slices, int32_t angles,
                       int32_t columns, const double* centre) {
  if (sino == nullptr || theta == nullptr || centre == nullptr) return "sino, theta or centre is NULL";
  if (slices < 1 || angles < 1 || columns < 2) return "slices, angles or columns is too small";
  for (int32_t a = 0; a < angles; ++a)
    if (!(std::abs(theta[a]) < 1e6)) return "theta has a value that is not an angle in radians";
  return nullptr;
}

}  // namespace

extern "C" {

pk_status pk_normalize_minus_log_u16(const uint16_t* raw, const float* flat, const float* dark,
                                     int32_t slices, int32_t angles, int32_t columns, float floor,
                                     float ceiling, float* out, pk_error* error) {
  return normalize(raw, flat, dark, slices, angles, columns, floor, ceiling, out, error);
}

pk_status pk_normalize_minus_log_f32(const float* raw, const float* flat, const float* dark, int32_t slices,
                                     int32_t angles, int32_t columns, float floor, float ceiling, float* out,
                                     pk_error* error) {
  return normalize(raw, flat, dark, slices, angles, columns, floor, ceiling, out, error);
}

pk_status pk_mean_frames_u16(const uint16_t* in, int32_t frames, int64_t pixels, float* out,
                             pk_error* error) {
  return mean(in, frames, pixels, out, error);
}

pk_status pk_mean_frames_f32(const float* in, int32_t frames, int64_t pixels, float* out, pk_error* error) {
  return mean(in, frames, pixels, out, error);
}

pk_status pk_circ_mask(float* image, int32_t slices, int32_t rows, int32_t cols, double ratio, float value,
                       pk_error* error) {
  if (slices < 0 || rows < 0 || cols < 0) return answer_invalid(error, "a size is negative");
  if (image == nullptr && slices > 0 && rows > 0 && cols > 0) return answer_invalid(error, "image is NULL");
  if (!(ratio >= 0) || !std::isfinite(ratio))
    return answer_invalid(error, "ratio must be a number from 0 up");
  circ_mask(image, slices, rows, cols, ratio, value);
  return answer_ok(error);
}

pk_status pk_find_centre(const float* sino, const double* theta, int32_t slices, int32_t angles,
                         int32_t columns, double guess, double radius, double* centre, pk_error* error) {
  if (const char* problem = check_scan(sino, theta, slices, angles, columns, centre))
    return answer_invalid(error, problem);
  return fenced(error, [&] {
    const double from = std::isnan(guess) ? (columns - 1) / 2.0 : guess;
    const double within = radius > 0 && std::isfinite(radius) ? radius : columns / 4.0;
    if (!(std::abs(from) < 1e6)) return answer_invalid(error, "guess is not a sensible number");
    const auto found = find_centre_twice({sino, theta, slices, angles, columns, from, within});
    if (!found)
      return answer(
          error, PK_BAD_DATA,
          "no centre can be found: the angles cover less than half a turn, or the data are constant");
    *centre = *found;
    return answer_ok(error);
  });
}

pk_status pk_refine_centre(const float* sino, const double* theta, int32_t slices, int32_t angles,
                           int32_t columns, double guess, double radius, double* centre, pk_error* error) {
  if (const char* problem = check_scan(sino, theta, slices, angles, columns, centre))
    return answer_invalid(error, problem);
  if (!(std::abs(guess) < 1e6)) return answer_invalid(error, "guess is not a sensible number");
  return fenced(error, [&] {
    const double within = radius > 0 && std::isfinite(radius) ? radius : 1.5;
    const auto found = refine_centre({sino, theta, slices, angles, columns, guess, within});
    if (!found)
      return answer(error, PK_BAD_DATA,
                    "no centre can be found: the pictures around the guess have no least entropy; "
                    "pk_find_centre needs no guess");
    *centre = *found;
    return answer_ok(error);
  });
}

}  // extern "C"
