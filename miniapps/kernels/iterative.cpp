#include "miniapps/kernels/iterative.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace miniapps::kernels {
namespace {

// Where the bins of an angle meet the lines of the image, and how the bins are stored.
struct AngleGeometry {
  LineGeometry lines;
  bool transposed;  // lines are image columns
  bool reversed;    // bins are stored from the last to the first
};

AngleGeometry geometry_of(const IterativePlan& plan, int angle, double centre) {
  const double c = plan.cosine[angle], s = plan.sine[angle], middle = plan.size / 2.0 - 0.5;
  const bool transposed = std::abs(s) > std::abs(c);
  // Down the rows: x = (d - centre - y s) / c with y = middle - row, position x + middle.
  // Across the columns: y = (d - centre - x c) / s with x = column - middle, position middle - y.
  const double slope = transposed ? -1 / s : 1 / c, step = transposed ? c / s : s / c;
  double offset = middle - centre * slope - middle * step;
  const bool reversed = slope < 0;
  if (reversed) offset += (plan.desc.columns - 1) * slope;
  return {{std::abs(slope), offset, step, std::max(std::abs(step), 1e-4), plan.desc.columns, plan.size,
           plan.pitch},
          transposed,
          reversed};
}

float* pixels(AlignedBuffer<float>& buffer) {
  return buffer.data() + line_pad;
}
const float* pixels(const AlignedBuffer<float>& buffer) {
  return buffer.data() + line_pad;
}

void clear(AlignedBuffer<float>& buffer) {
  std::memset(buffer.data(), 0, buffer.size() * sizeof(float));
}

// to[j][i] (+)= from[i][j] in blocks that fit the first cache.
template <typename Combine>
void transpose(const float* from, float* to, std::size_t pitch, int size, Combine combine) {
  constexpr int block = 16;
  for (int i0 = 0; i0 < size; i0 += block)
    for (int j0 = 0; j0 < size; j0 += block)
      for (int j = j0; j < std::min(j0 + block, size); ++j)
        for (int i = i0; i < std::min(i0 + block, size); ++i) combine(to[j * pitch + i], from[i * pitch + j]);
}

void refresh_columns(const IterativePlan& plan, PaddedImage& image) {
  transpose(pixels(image.rows), pixels(image.columns), plan.pitch, plan.size,
            [](float& a, float b) { a = b; });
}

// One projection: the line integrals of angle a into out [columns].
void project_angle(const IterativePlan& plan, IterativeScratch& scratch, const PaddedImage& image, int angle,
                   double centre, float* out) {
  const AngleGeometry g = geometry_of(plan, angle, centre);
  float* const bins = pixels(scratch.bins);
  const int columns = plan.desc.columns;
  std::memset(bins, 0, columns * sizeof(float));
  project_lines(g.lines, pixels(g.transposed ? image.columns : image.rows), bins);
  const float length = static_cast<float>(g.lines.slope);
  for (int d = 0; d < columns; ++d) out[d] = length * bins[g.reversed ? columns - 1 - d : d];
}

// update += the transpose of project_angle.
void back_project_angle(const IterativePlan& plan, IterativeScratch& scratch, const float* in, int angle,
                        double centre, PaddedImage& update) {
  const AngleGeometry g = geometry_of(plan, angle, centre);
  float* const bins = pixels(scratch.bins);
  const int columns = plan.desc.columns;
  const float length = static_cast<float>(g.lines.slope);
  for (int d = 0; d < columns; ++d) bins[g.reversed ? columns - 1 - d : d] = length * in[d];
  std::memset(bins + columns, 0, line_pad * sizeof(float));
  back_project_lines(g.lines, bins, pixels(g.transposed ? update.columns : update.rows));
}

void begin_update(PaddedImage& update) {
  clear(update.rows);
  clear(update.columns);
}

// update.rows gets both parts.
void finish_update(const IterativePlan& plan, PaddedImage& update) {
  transpose(pixels(update.columns), pixels(update.rows), plan.pitch, plan.size,
            [](float& a, float b) { a += b; });
}

void load_image(const IterativePlan& plan, const float* from, bool clamp, PaddedImage& image) {
  clear(image.rows);
  clear(image.columns);
  for (int r = 0; r < plan.size; ++r)
    for (int c = 0; c < plan.size; ++c) {
      const float v = from == nullptr ? 1.0f : from[std::size_t(r) * plan.size + c];
      pixels(image.rows)[r * plan.pitch + c] = !std::isfinite(v) || (clamp && v < 0) ? 0.0f : v;
    }
}

void store_image(const IterativePlan& plan, const AlignedBuffer<float>& from, float* image) {
  for (int r = 0; r < plan.size; ++r)
    std::memcpy(image + std::size_t(r) * plan.size, pixels(from) + r * plan.pitch, plan.size * sizeof(float));
}

// One measured row and its projection (in `row`) to what is back-projected; returns the row's part of the
// objective.
double compare_em(const float* y, float* row, int columns, bool wanted) {
  double objective = 0;
  for (int d = 0; d < columns; ++d) {
    const float measured = y[d] > 0 && std::isfinite(y[d]) ? y[d] : 0.0f, expected = row[d];
    if (wanted) {
      objective += double(expected) - measured;
      if (measured > 0) objective += measured * std::log(double(measured) / std::max(expected, 1e-30f));
    }
    row[d] = expected > 1e-20f ? measured / expected : 0.0f;
  }
  return objective;
}

double compare_sirt(const float* y, const float* sums, float* row, int columns) {
  double objective = 0;
  for (int d = 0; d < columns; ++d) {
    const float residual = std::isfinite(y[d]) ? y[d] - row[d] : 0.0f;
    objective += 0.5 * double(residual) * residual;
    row[d] = sums[d] > 1e-6f ? residual / sums[d] : 0.0f;
  }
  return objective;
}

void apply_update(const IterativePlan& plan, const AlignedBuffer<float>& sensitivity,
                  IterativeScratch& scratch) {
  const bool sirt = plan.desc.method == PK_SIRT;
  const float relaxation = static_cast<float>(plan.desc.relaxation);
  for (int r = 0; r < plan.size; ++r) {
    float* const x = pixels(scratch.image.rows) + r * plan.pitch;
    const float* const u = pixels(scratch.update.rows) + r * plan.pitch;
    const float* const s = pixels(sensitivity) + r * plan.pitch;
    for (int c = 0; c < plan.size; ++c) {
      const float part = s[c] > 1e-6f ? u[c] / s[c] : 0.0f;
      x[c] = sirt ? x[c] + relaxation * part : x[c] * part;
    }
  }
}

// The sums of A's columns (and, for SIRT, rows), which depend on the slice's centre.
void prepare_sums(const IterativePlan& plan, IterativeScratch& scratch, double centre) {
  const int columns = plan.desc.columns, subsets = plan.subset_count();
  AlignedBuffer<float>& ones = scratch.sums;  // also used as a row of ones
  for (int k = 0; k < subsets; ++k) {
    begin_update(scratch.update);
    std::fill(ones.data(), ones.data() + columns, 1.0f);
    for (int a = k; a < plan.desc.angles; a += subsets)
      back_project_angle(plan, scratch, ones.data(), a, centre, scratch.update);
    finish_update(plan, scratch.update);
    std::memcpy(scratch.sensitivity[k].data(), scratch.update.rows.data(),
                scratch.update.rows.size() * sizeof(float));
  }
  if (plan.desc.method != PK_SIRT) return;
  load_image(plan, nullptr, false, scratch.update);
  refresh_columns(plan, scratch.update);
  for (int a = 0; a < plan.desc.angles; ++a)
    project_angle(plan, scratch, scratch.update, a, centre, scratch.sums.data() + std::size_t(a) * columns);
}

double iterate(const IterativePlan& plan, IterativeScratch& scratch, const IterativeJob& job, bool wanted) {
  const int columns = plan.desc.columns, subsets = plan.subset_count();
  // The row being worked on stands behind the sums of the rows.
  float* const row = scratch.sums.data() + std::size_t(plan.desc.angles) * columns;
  double objective = 0;
  for (int k = 0; k < subsets; ++k) {
    refresh_columns(plan, scratch.image);
    begin_update(scratch.update);
    for (int a = k; a < plan.desc.angles; a += subsets) {
      const std::size_t at = std::size_t(a) * columns;
      project_angle(plan, scratch, scratch.image, a, job.centre, row);
      objective += plan.desc.method == PK_SIRT
                       ? compare_sirt(job.sino + at, scratch.sums.data() + at, row, columns)
                       : compare_em(job.sino + at, row, columns, wanted);
      back_project_angle(plan, scratch, row, a, job.centre, scratch.update);
    }
    finish_update(plan, scratch.update);
    apply_update(plan, scratch.sensitivity[k], scratch);
  }
  return objective;
}

}  // namespace

std::string check_iterative(const pk_iterative_desc& d) {
  if (d.angles < 1 || d.angles > 1000000) return "angles must be 1 to 1000000";
  if (d.columns < 2 || d.columns > 32768) return "columns must be 2 to 32768";
  if (d.theta == nullptr) return "theta is NULL; it must point to one angle in radians for each projection";
  for (int a = 0; a < d.angles; ++a)
    if (!(std::abs(d.theta[a]) < 1e6)) return "theta has a value that is not an angle in radians";
  if (d.method < PK_MLEM || d.method > PK_SIRT) return "method must be 0 (ML-EM), 1 (OS-EM) or 2 (SIRT)";
  if (d.method == PK_OSEM && (d.subsets < 1 || d.subsets > d.angles))
    return "subsets must be 1 to the number of angles";
  if (d.image_size < 0 || d.image_size > 32768) return "image_size must be 0 to 32768";
  if (d.method == PK_SIRT && !(d.relaxation > 0 && d.relaxation < 2))
    return "relaxation must lie between 0 and 2";
  if (!(d.tolerance >= 0 && d.tolerance < 1)) return "tolerance must be 0 or more, and below 1";
  return {};
}

IterativePlan::IterativePlan(const pk_iterative_desc& d)
    : desc(d),
      size(d.image_size > 0 ? d.image_size : d.columns),
      pitch((size + 2 * line_pad + 15) / 16 * 16) {
  desc.theta = nullptr;
  for (int a = 0; a < d.angles; ++a) {
    cosine.push_back(std::cos(d.theta[a]));
    sine.push_back(std::sin(d.theta[a]));
  }
}

IterativeScratch::IterativeScratch(const IterativePlan& plan)
    : image{AlignedBuffer<float>(plan.image_floats()), AlignedBuffer<float>(plan.image_floats())},
      update{AlignedBuffer<float>(plan.image_floats()), AlignedBuffer<float>(plan.image_floats())},
      bins(plan.desc.columns + 2 * line_pad),
      sums(std::size_t(plan.desc.angles + 1) * plan.desc.columns) {
  for (int k = 0; k < plan.subset_count(); ++k) sensitivity.emplace_back(plan.image_floats());
  clear(bins);
}

int run_iterative(const IterativePlan& plan, IterativeScratch& scratch, const IterativeJob& job) {
  prepare_sums(plan, scratch, job.centre);
  load_image(plan, job.warm_start ? job.image : nullptr, plan.desc.method != PK_SIRT, scratch.image);
  if (plan.desc.method == PK_SIRT && !job.warm_start) clear(scratch.image.rows);
  const bool wanted = job.objective != nullptr || plan.desc.tolerance > 0;
  double before = std::numeric_limits<double>::infinity();
  int done = 0;
  while (done < job.iterations) {
    const double objective = iterate(plan, scratch, job, wanted);
    if (job.objective != nullptr) job.objective[done] = objective;
    ++done;
    if (plan.desc.tolerance > 0 && before - objective < plan.desc.tolerance * before) break;
    before = objective;
  }
  if (job.objective != nullptr)
    std::fill(job.objective + done, job.objective + job.iterations, std::numeric_limits<double>::quiet_NaN());
  store_image(plan, scratch.image.rows, job.image);
  return done;
}

void project(const IterativePlan& plan, IterativeScratch& scratch, const float* image, double centre,
             float* sino) {
  load_image(plan, image, false, scratch.image);
  refresh_columns(plan, scratch.image);
  for (int a = 0; a < plan.desc.angles; ++a)
    project_angle(plan, scratch, scratch.image, a, centre, sino + std::size_t(a) * plan.desc.columns);
}

void back_project(const IterativePlan& plan, IterativeScratch& scratch, const float* sino, double centre,
                  float* image) {
  begin_update(scratch.update);
  float* const row = scratch.sums.data();
  for (int a = 0; a < plan.desc.angles; ++a) {
    const float* const in = sino + std::size_t(a) * plan.desc.columns;
    for (int d = 0; d < plan.desc.columns; ++d) row[d] = std::isfinite(in[d]) ? in[d] : 0.0f;
    back_project_angle(plan, scratch, row, a, centre, scratch.update);
  }
  finish_update(plan, scratch.update);
  store_image(plan, scratch.update.rows, image);
}

}  // namespace miniapps::kernels
