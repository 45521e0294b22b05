// What the kernels' tests share: fixtures, phantoms, comparisons of images.  Not part of the library.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "miniapps/generators/phantom.hpp"
#include "miniapps/kernels/kernels.h"

#ifndef PILOT_SOURCE_DIR
#define PILOT_SOURCE_DIR "."  // the build says where the sources are
#endif

namespace miniapps::kernels::testing {

inline constexpr double pi = 3.14159265358979323846;

template <typename T = float>
std::vector<T> fixture(const std::string& name, std::size_t count) {
  std::vector<T> values(count);
  std::ifstream file(std::string(PILOT_SOURCE_DIR "/tests/fixtures/") + name, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  EXPECT_EQ(static_cast<std::size_t>(file.gcount()), count * sizeof(T)) << name;
  return values;
}

// Differences of two square images inside the circle of radius `part` of their half width.
struct Comparison {
  double rmse = 0;      // as they are
  double fit_rmse = 0;  // after the best scale and offset of the first
  double scale = 1, offset = 0;
  double deviation = 0;  // of the second image
};

inline Comparison compare(const float* a, const float* b, int size, double part = 1.0) {
  double n = 0, sa = 0, sb = 0, saa = 0, sab = 0, sbb = 0, raw = 0;
  const auto inside = [&](int i) {
    const double x = i % size + 0.5 - size / 2.0, y = i / size + 0.5 - size / 2.0;
    return x * x + y * y <= part * part * size * size / 4.0;
  };
  for (int i = 0; i < size * size; ++i) {
    if (!inside(i)) continue;
    n += 1;
    sa += a[i];
    sb += b[i];
    saa += double(a[i]) * a[i];
    sbb += double(b[i]) * b[i];
    sab += double(a[i]) * b[i];
    raw += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
  }
  Comparison result;
  result.scale = (n * sab - sa * sb) / (n * saa - sa * sa);
  result.offset = (sb - result.scale * sa) / n;
  double fit = 0;
  for (int i = 0; i < size * size; ++i)
    if (inside(i)) fit += std::pow(result.scale * a[i] + result.offset - b[i], 2);
  result.deviation = std::sqrt(sbb / n - sb / n * (sb / n));
  result.rmse = std::sqrt(raw / n);
  result.fit_rmse = std::sqrt(fit / n);
  return result;
}
inline double decibel(double rmse) {
  return -20 * std::log10(rmse);
}

// A phantom's exact sinogram and picture.
struct Truth {
  int angles, columns;
  std::vector<double> theta;
  std::vector<float> sino, image;
};
inline Truth make_truth(const generators::Phantom& phantom, int angles, int columns, double centre,
                        double radius = 0.95) {
  Truth t{angles, columns, generators::even_angles(angles, pi), {}, {}};
  const generators::Section section = generators::section_at(phantom, 0);
  t.sino.resize(std::size_t(angles) * columns);
  t.image.resize(std::size_t(columns) * columns);
  generators::sinogram(section, radius * columns / 2, t.theta, centre, columns, t.sino);
  generators::rasterize(section, radius * columns / 2, columns, 4, t.image);
  return t;
}

// Owns a plan and one scratch.
class Gridrec {
 public:
  explicit Gridrec(const pk_gridrec_desc& desc, int max_slices = 0) {
    pk_error error{};
    EXPECT_EQ(pk_gridrec_plan_create(&desc, &plan_, &error), PK_OK) << error.message;
    EXPECT_EQ(pk_gridrec_scratch_create(plan_, max_slices, &scratch_, &error), PK_OK) << error.message;
    pk_gridrec_plan_shape(plan_, &rows_, &cols_, nullptr, nullptr);
  }
  Gridrec(const Gridrec&) = delete;
  Gridrec& operator=(const Gridrec&) = delete;
  ~Gridrec() {
    pk_gridrec_scratch_destroy(scratch_);
    pk_gridrec_plan_destroy(plan_);
  }
  std::vector<float> run(const std::vector<float>& sino, int slices, const double* centres = nullptr) {
    std::vector<float> out(std::size_t(slices) * rows_ * cols_);
    pk_error error{};
    EXPECT_EQ(pk_gridrec_run(plan_, scratch_, sino.data(), centres, slices, out.data(), &error), PK_OK)
        << error.message;
    return out;
  }
  const pk_gridrec_plan* plan() const { return plan_; }
  pk_gridrec_scratch* scratch() const { return scratch_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }

 private:
  pk_gridrec_plan* plan_ = nullptr;
  pk_gridrec_scratch* scratch_ = nullptr;
  int rows_ = 0, cols_ = 0;
};

inline pk_gridrec_desc describe(int angles, int columns, const std::vector<double>& theta) {
  pk_gridrec_desc desc;
  pk_gridrec_desc_init(&desc, angles, columns, theta.data());
  return desc;
}

// Runs a test body under each instruction set that this machine has.
template <typename Body>
void for_each_isa(Body body) {
  int tried = 0;
  for (const char* isa : {"baseline", "sse4", "avx2", "avx512", "neon"}) {
    if (pk_limit_isa(isa, nullptr) != PK_OK) continue;
    SCOPED_TRACE(isa);
    body(isa);
    ++tried;
  }
  EXPECT_GE(tried, 1);
  EXPECT_EQ(pk_limit_isa("best", nullptr), PK_OK);
}

}  // namespace miniapps::kernels::testing
