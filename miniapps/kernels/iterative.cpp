#include "miniapps/kernels/iterative.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace miniapps::kernels {
namespace {

float* pixels(AlignedBuffer<float>& buffer) {
  return buffer.data() + line_pad;
}
const float* pixels(const AlignedBuffer<float>& buffer) {
  return buffer.data() + line_pad;
}

void clear(AlignedBuffer<float>& buffer) {
  std::memset(buffer.data(), 0, buffer.size() * sizeof(float));
}

// A group of angles and its rows, which are stored from the last bin to the first where positions fall with
// the bins.
struct Block {
  LineBlock lines;
  const AngleGroup* group;
  bool reversed[most_angles];

  // The row of a measured sinogram's angle, element by element: (measured index, value in the block).
  template <typename Body>
  void for_each_bin(int a, int k, Body body) {
    float* const row = lines.row(a, k);
    const int columns = lines.columns;
    if (reversed[a])
      for (int d = 0; d < columns; ++d) body(d, row[columns - 1 - d]);
    else
      for (int d = 0; d < columns; ++d) body(d, row[d]);
  }
  float length(int a) const { return static_cast<float>(lines.geometry[a].slope); }
};

Block make_block(const IterativePlan& plan, IterativeScratch& scratch, const AngleGroup& group, double centre,
                 std::vector<PaddedImage>& images, int slices) {
  Block block;
  block.group = &group;
  LineBlock& lines = block.lines;
  lines.angles = static_cast<int>(group.angles.size());
  lines.slices = slices;
  lines.columns = plan.desc.columns;
  lines.size = plan.size;
  lines.line_pitch = plan.pitch;
  lines.bins = scratch.bins.data() + line_pad;
  lines.row_pitch = plan.row_floats();
  for (int k = 0; k < slices; ++k)
    lines.image[k] = pixels(group.transposed ? images[k].columns : images[k].rows);
  const double middle = plan.size / 2.0 - 0.5;
  for (int a = 0; a < lines.angles; ++a) {
    const double c = plan.cosine[group.angles[a]], s = plan.sine[group.angles[a]];
    // Down the rows: x = (d - centre - y s) / c with y = middle - row, at position x + middle.
    // Across the columns: y = (d - centre - x c) / s with x = column - middle, at position middle - y.
    const double slope = group.transposed ? -1 / s : 1 / c, step = group.transposed ? c / s : s / c;
    double offset = middle - centre * slope - middle * step;
    block.reversed[a] = slope < 0;
    if (slope < 0) offset += (plan.desc.columns - 1) * slope;
    lines.geometry[a] = {std::abs(slope), offset, step, std::max(std::abs(step), 1e-4)};
  }
  return block;
}

// Rows of the block: the images' line integrals, still to be multiplied by length().
void project_block(Block& block) {
  for (int a = 0; a < block.lines.angles; ++a)
    for (int k = 0; k < block.lines.slices; ++k)
      std::memset(block.lines.row(a, k), 0, block.lines.columns * sizeof(float));
  project_lines(block.lines);
}

void back_project_block(const Block& block) {
  for (int a = 0; a < block.lines.angles; ++a)
    for (int k = 0; k < block.lines.slices; ++k)
      std::memset(block.lines.row(a, k) + block.lines.columns, 0, line_pad * sizeof(float));
  back_project_lines(block.lines);
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

void begin_update(PaddedImage& update) {
  clear(update.rows);
  clear(update.columns);
}

// update.rows gets both parts.
void finish_update(const IterativePlan& plan, PaddedImage& update) {
  transpose(pixels(update.columns), pixels(update.rows), plan.pitch, plan.size,
            [](float& a, float b) { a += b; });
}

// from: null for all pixels `fill`.
void load_image(const IterativePlan& plan, const float* from, float fill, bool clamp, PaddedImage& image) {
  begin_update(image);
  for (int r = 0; r < plan.size; ++r)
    for (int c = 0; c < plan.size; ++c) {
      const float v = from == nullptr ? fill : from[std::size_t(r) * plan.size + c];
      pixels(image.rows)[r * plan.pitch + c] = !std::isfinite(v) || (clamp && v < 0) ? 0.0f : v;
    }
}

void store_image(const IterativePlan& plan, const AlignedBuffer<float>& from, float* image) {
  for (int r = 0; r < plan.size; ++r)
    std::memcpy(image + std::size_t(r) * plan.size, pixels(from) + r * plan.pitch, plan.size * sizeof(float));
}

// The projection in a row becomes what is back-projected; returns the row's part of the objective.
double compare_em(Block& block, int a, int k, const float* measured, bool wanted) {
  double objective = 0;
  const float length = block.length(a);
  block.for_each_bin(a, k, [&](int d, float& bin) {
    const float y = measured[d] > 0 && std::isfinite(measured[d]) ? measured[d] : 0.0f,
                expected = length * bin;
    if (wanted) {
      objective += double(expected) - y;
      if (y > 0) objective += y * std::log(double(y) / std::max(expected, 1e-30f));
    }
    bin = expected > 1e-20f ? length * (y / expected) : 0.0f;
  });
  return objective;
}

double compare_sirt(Block& block, int a, int k, const float* measured, const float* sums) {
  double objective = 0;
  const float length = block.length(a);
  block.for_each_bin(a, k, [&](int d, float& bin) {
    const float residual = std::isfinite(measured[d]) ? measured[d] - length * bin : 0.0f;
    objective += 0.5 * double(residual) * residual;
    bin = sums[d] > 1e-6f ? length * (residual / sums[d]) : 0.0f;
  });
  return objective;
}

void apply_update(const IterativePlan& plan, const AlignedBuffer<float>& sensitivity,
                  const PaddedImage& update, PaddedImage& image) {
  const bool sirt = plan.desc.method == PK_SIRT;
  const float relaxation = static_cast<float>(plan.desc.relaxation);
  for (int r = 0; r < plan.size; ++r) {
    float* const x = pixels(image.rows) + r * plan.pitch;
    const float* const u = pixels(update.rows) + r * plan.pitch;
    const float* const s = pixels(sensitivity) + r * plan.pitch;
    for (int c = 0; c < plan.size; ++c) {
      const float part = s[c] > 1e-6f ? u[c] / s[c] : 0.0f;
      x[c] = sirt ? x[c] + relaxation * part : x[c] * part;
    }
  }
}

// The sums of A's columns (and, for SIRT, rows), which depend on the slices' centre.
void prepare_sums(const IterativePlan& plan, IterativeScratch& scratch, double centre) {
  for (std::size_t s = 0; s < plan.subsets.size(); ++s) {
    begin_update(scratch.update[0]);
    for (const AngleGroup& group : plan.subsets[s]) {
      Block block = make_block(plan, scratch, group, centre, scratch.update, 1);
      for (int a = 0; a < block.lines.angles; ++a)
        block.for_each_bin(a, 0, [&](int, float& bin) { bin = block.length(a); });
      back_project_block(block);
    }
    finish_update(plan, scratch.update[0]);
    std::memcpy(scratch.sensitivity[s].data(), scratch.update[0].rows.data(),
                plan.image_floats() * sizeof(float));
  }
  if (plan.desc.method != PK_SIRT) return;
  load_image(plan, nullptr, 1.0f, false, scratch.image[0]);
  refresh_columns(plan, scratch.image[0]);
  for (const AngleGroup& group : plan.subsets[0]) {
    Block block = make_block(plan, scratch, group, centre, scratch.image, 1);
    project_block(block);
    for (int a = 0; a < block.lines.angles; ++a) {
      float* const sums = scratch.row_sums.data() + std::size_t(group.angles[a]) * plan.desc.columns;
      block.for_each_bin(a, 0, [&](int d, float& bin) { sums[d] = block.length(a) * bin; });
    }
  }
}

// One subset: forward, comparison and back for each group of its angles.  Adds to objective [slices].
void iterate_subset(const IterativePlan& plan, IterativeScratch& scratch, const IterativeJob& job,
                    std::size_t subset, bool wanted, double* objective) {
  const std::size_t columns = plan.desc.columns, angles = plan.desc.angles;
  for (int k = 0; k < job.slices; ++k) {
    refresh_columns(plan, scratch.image[k]);
    begin_update(scratch.update[k]);
  }
  for (const AngleGroup& group : plan.subsets[subset]) {
    Block block = make_block(plan, scratch, group, job.centre, scratch.image, job.slices);
    project_block(block);
    for (int a = 0; a < block.lines.angles; ++a)
      for (int k = 0; k < job.slices; ++k) {
        const float* const measured = job.sino + (k * angles + group.angles[a]) * columns;
        objective[k] +=
            plan.desc.method == PK_SIRT
                ? compare_sirt(block, a, k, measured, scratch.row_sums.data() + group.angles[a] * columns)
                : compare_em(block, a, k, measured, wanted);
      }
    for (int k = 0; k < job.slices; ++k)
      block.lines.image[k] = pixels(group.transposed ? scratch.update[k].columns : scratch.update[k].rows);
    back_project_block(block);
  }
  for (int k = 0; k < job.slices; ++k) {
    finish_update(plan, scratch.update[k]);
    apply_update(plan, scratch.sensitivity[subset], scratch.update[k], scratch.image[k]);
  }
}

}  // namespace

void run_iterative(const IterativePlan& plan, IterativeScratch& scratch, const IterativeJob& job) {
  const std::size_t image_size = std::size_t(plan.size) * plan.size;
  const bool sirt = plan.desc.method == PK_SIRT, wanted = job.objective != nullptr || plan.desc.tolerance > 0;
  prepare_sums(plan, scratch, job.centre);
  for (int k = 0; k < job.slices; ++k)
    load_image(plan, job.warm_start ? job.image + k * image_size : nullptr, sirt ? 0.0f : 1.0f, !sirt,
               scratch.image[k]);
  double before[most_slices];
  bool stopped[most_slices] = {};
  std::fill(before, before + most_slices, std::numeric_limits<double>::infinity());
  int left = job.slices;
  for (int i = 0; i < job.iterations && left > 0; ++i) {
    double objective[most_slices] = {};
    for (std::size_t s = 0; s < plan.subsets.size(); ++s)
      iterate_subset(plan, scratch, job, s, wanted, objective);
    for (int k = 0; k < job.slices; ++k) {
      if (job.objective != nullptr)
        job.objective[std::ptrdiff_t(k) * job.iterations + i] =
            stopped[k] ? std::numeric_limits<double>::quiet_NaN() : objective[k];
      if (stopped[k]) continue;
      if (job.done != nullptr) job.done[k] = i + 1;
      const bool slow = plan.desc.tolerance > 0 && before[k] - objective[k] < plan.desc.tolerance * before[k];
      before[k] = objective[k];
      if (!slow && i + 1 < job.iterations) continue;
      // A slice that has stopped keeps its image, whatever its companions still do.
      store_image(plan, scratch.image[k].rows, job.image + k * image_size);
      stopped[k] = true;
      --left;
      if (left == 0 && job.objective != nullptr)
        for (int s = 0; s < job.slices; ++s)
          std::fill(job.objective + std::ptrdiff_t(s) * job.iterations + i + 1,
                    job.objective + std::ptrdiff_t(s + 1) * job.iterations,
                    std::numeric_limits<double>::quiet_NaN());
    }
  }
}

void project(const IterativePlan& plan, IterativeScratch& scratch, const float* image, double centre,
             float* sino) {
  load_image(plan, image, 0.0f, false, scratch.image[0]);
  refresh_columns(plan, scratch.image[0]);
  for (const std::vector<AngleGroup>& groups : plan.subsets)
    for (const AngleGroup& group : groups) {
      Block block = make_block(plan, scratch, group, centre, scratch.image, 1);
      project_block(block);
      for (int a = 0; a < block.lines.angles; ++a) {
        float* const out = sino + std::size_t(group.angles[a]) * plan.desc.columns;
        block.for_each_bin(a, 0, [&](int d, float& bin) { out[d] = block.length(a) * bin; });
      }
    }
}

void back_project(const IterativePlan& plan, IterativeScratch& scratch, const float* sino, double centre,
                  float* image) {
  begin_update(scratch.update[0]);
  for (const std::vector<AngleGroup>& groups : plan.subsets)
    for (const AngleGroup& group : groups) {
      Block block = make_block(plan, scratch, group, centre, scratch.update, 1);
      for (int a = 0; a < block.lines.angles; ++a) {
        const float* const in = sino + std::size_t(group.angles[a]) * plan.desc.columns;
        block.for_each_bin(
            a, 0, [&](int d, float& bin) { bin = std::isfinite(in[d]) ? block.length(a) * in[d] : 0.0f; });
      }
      back_project_block(block);
    }
  finish_update(plan, scratch.update[0]);
  store_image(plan, scratch.update[0].rows, image);
}

}  // namespace miniapps::kernels
