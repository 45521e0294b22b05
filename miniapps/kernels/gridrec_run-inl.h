// GridRec of one group of slices, compiled once per instruction set.
//
// Lanes: a vector holds A = lanes / S angles (or grid rows, or grid columns) of S slices; lane = a * S + s.
#ifndef MINIAPPS_KERNELS_GRIDREC_JOB
#define MINIAPPS_KERNELS_GRIDREC_JOB
namespace miniapps::kernels {
struct GroupJob {
  const float* sino;      // [count][angles][columns]
  const double* centres;  // [count] or null
  int count;              // slices, up to the group's size
  float* out;             // [count][rows][cols]
};
}  // namespace miniapps::kernels
#endif

#if defined(MINIAPPS_KERNELS_GRIDREC_RUN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MINIAPPS_KERNELS_GRIDREC_RUN_INL_H
#undef MINIAPPS_KERNELS_GRIDREC_RUN_INL_H
#else
#define MINIAPPS_KERNELS_GRIDREC_RUN_INL_H
#endif

#include <cmath>
#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "miniapps/kernels/gridrec_filter-inl.h"
#include "miniapps/kernels/gridrec_run.hpp"
#include "miniapps/kernels/lane_fft-inl.h"

HWY_BEFORE_NAMESPACE();
namespace miniapps::kernels {
namespace HWY_NAMESPACE {

template <int S>
struct Group {
  static_assert(lane_count % S == 0);
  static constexpr int across = lane_count / S;  // A
};

// One grid cell of S slices: [re S][im S], as whole vectors.
template <int S>
struct Cell {
  static constexpr hn::CappedTag<float, 2 * S> tag{};
  static constexpr size_t lanes = HWY_MIN(size_t(2 * S), size_t(lane_count));
  static constexpr size_t vectors = 2 * S / lanes;
  using V = hn::Vec<hn::CappedTag<float, 2 * S>>;
};

// Adds one angle's samples to the grid.  z: spectrum elements, the angle's slices start at lane `lane`.
template <int S, int W>
HWY_INLINE void spread(const GridrecPlan& plan, const GridrecAngle& angle, const float* HWY_RESTRICT z,
                       size_t lane, float* HWY_RESTRICT grid) {
  using C = Cell<S>;
  constexpr hn::CappedTag<float, 2 * S> d;
  const hn::FixedTag<float, 4> d4;
  constexpr int quads = (W + 3) / 4;
  const size_t cell = 2 * S, pitch = size_t(plan.grid_cols()) * cell;
  const float* HWY_RESTRICT table = plan.kernel.table.data();
  const float intervals = static_cast<float>(plan.kernel.intervals);
  const float left = static_cast<float>(plan.grid / 2 + plan.margin), top = static_cast<float>(plan.margin);
  // A ray meets new cells at its front: a column of them or a row.
  const bool flat = std::abs(angle.u) > angle.v;
  const size_t front = flat ? (angle.u > 0 ? (W - 1) * cell : 0) : (W - 1) * pitch,
               front_step = flat ? pitch : cell;
  const std::ptrdiff_t front_ahead = std::ptrdiff_t(8 * angle.v) * std::ptrdiff_t(pitch) +
                                     std::ptrdiff_t(8 * angle.u) * std::ptrdiff_t(cell) +
                                     std::ptrdiff_t(front);
  for (int j = 0; j <= plan.grid / 2; ++j) {
    const float r = static_cast<float>(j);
    // First tap of each axis, counted from the grid's corner, and the offset of the sample from it.
    const float u = r * angle.u + (left - 0.5f * W), v = r * angle.v + (top - 0.5f * W);
    const float u0 = std::ceil(u), v0 = std::ceil(v);
    const float tu = (u0 - u) * intervals, tv = (v0 - v) * intervals;
    const int ku = static_cast<int>(tu), kv = static_cast<int>(tv);
    const float* const row_u = table + size_t(ku) * 8;
    const float* const row_v = table + size_t(kv) * 8;
    const auto fu = hn::Set(d4, tu - static_cast<float>(ku)), fv = hn::Set(d4, tv - static_cast<float>(kv));
    alignas(16) float wu[4 * quads], wv[4 * quads];
    for (int i = 0; i < 4 * quads; i += 4) {
      const auto a = hn::LoadU(d4, row_u + i), b = hn::LoadU(d4, row_v + i);
      hn::Store(hn::MulAdd(fu, hn::Sub(hn::LoadU(d4, row_u + 8 + i), a), a), d4, wu + i);
      hn::Store(hn::MulAdd(fv, hn::Sub(hn::LoadU(d4, row_v + 8 + i), b), b), d4, wv + i);
    }
    alignas(64) float sample[2 * S];
    std::memcpy(sample, z + j * element + lane, S * sizeof(float));
    std::memcpy(sample + S, z + j * element + lane_count + lane, S * sizeof(float));
    typename C::V value[C::vectors];
    for (size_t k = 0; k < C::vectors; ++k) value[k] = hn::Load(d, sample + k * C::lanes);
    float* HWY_RESTRICT row = grid + (size_t(v0) * plan.grid_cols() + size_t(u0)) * cell;
    if constexpr (S > 2)
      for (int i = 0; i < W; ++i) hwy::Prefetch(row + front_ahead + i * front_step);
    for (int i = 0; i < W; ++i, row += pitch) {
      typename C::V weighted[C::vectors];
      for (size_t k = 0; k < C::vectors; ++k) weighted[k] = hn::Mul(value[k], hn::Set(d, wv[i]));
      for (int n = 0; n < W; ++n) {
        const auto w = hn::Set(d, wu[n]);
        for (size_t k = 0; k < C::vectors; ++k) {
          float* const p = row + n * cell + k * C::lanes;
          hn::Store(hn::MulAdd(w, weighted[k], hn::Load(d, p)), d, p);
        }
      }
    }
  }
}

template <int S>
HWY_INLINE void spread_any(const GridrecPlan& plan, const GridrecAngle& angle, const float* z, size_t lane,
                           float* grid) {
  switch (plan.kernel.width) {  // the widths of kernel_width()
    case 4:
      return spread<S, 4>(plan, angle, z, lane, grid);
    case 5:
      return spread<S, 5>(plan, angle, z, lane, grid);
    default:
      return spread<S, 8>(plan, angle, z, lane, grid);
  }
}

// Projections of a group to the half plane of the grid.
template <int S>
HWY_NOINLINE void project_to_grid(const GridrecPlan& plan, GridrecScratch& scratch, const GroupJob& job) {
  constexpr int A = Group<S>::across;
  const int columns = plan.desc.columns, angles = plan.desc.angles;
  float* const grid = scratch.grid.data();
  std::memset(grid, 0, size_t(plan.grid_rows()) * plan.grid_cols() * 2 * S * sizeof(float));
  Phase phase;
  for (int first = 0; first < angles; first += A) {
    const float* rows[lane_count];
    for (int l = 0; l < lane_count; ++l) {
      // Lanes without an angle or a slice repeat another one; nothing of them is used.
      const int a = HWY_MIN(first + l / S, angles - 1), s = HWY_MIN(l % S, job.count - 1);
      rows[l] = job.sino + (size_t(s) * angles + a) * columns;
      const double centre = job.centres == nullptr ? 0.5 * (columns - 1) : job.centres[s];
      const GridrecAngle& angle = plan.angles[a];
      phase.set(l, angle.weight, (centre + angle.shift) / plan.transform, angle.conjugate);
    }
    float* const x = scratch.signal.data();
    rows_to_lanes(rows, columns, x);
    pad_lanes(plan, x);
    const float* const z = filtered_spectra(plan, phase, x, scratch.work.data());
    for (int a = 0; a < A && first + a < angles; ++a)
      spread_any<S>(plan, plan.angles[first + a], z, size_t(a) * S, grid);
  }
}

// Taps that fell outside the half plane belong, conjugated, to the mirrored cell inside; the rows that are
// their own mirror image count twice, as the real transform counts all others.
template <int S>
HWY_NOINLINE void fold_grid(const GridrecPlan& plan, float* grid) {
  const int width = plan.grid_cols(), zero_row = plan.margin, top_row = plan.margin + plan.grid / 2;
  for (int t = 1; t <= plan.margin; ++t)
    for (int side = 0; side < 2; ++side) {
      const float* from = grid + size_t(side == 0 ? zero_row - t : top_row + t) * width * 2 * S;
      float* to = grid + size_t(side == 0 ? zero_row + t : top_row - t) * width * 2 * S;
      for (int u = 0; u < width; ++u) {
        const float* a = from + size_t(u) * 2 * S;
        float* b = to + size_t(width - 1 - u) * 2 * S;
        for (int s = 0; s < S; ++s) b[s] += a[s];
        for (int s = 0; s < S; ++s) b[S + s] -= a[S + s];
      }
    }
  for (int row : {zero_row, top_row}) {
    float* p = grid + size_t(row) * width * 2 * S;
    for (size_t i = 0; i < size_t(width) * 2 * S; ++i) p[i] *= 2.0f;
  }
}

// Lane block <-> cells of A rows (or columns).
template <int S>
HWY_INLINE void cells_to_lanes(const float* from, size_t step, float* to) {
  for (int a = 0; a < Group<S>::across; ++a) {
    std::memcpy(to + a * S, from + a * step, S * sizeof(float));
    std::memcpy(to + lane_count + a * S, from + a * step + S, S * sizeof(float));
  }
}
template <int S>
HWY_INLINE void lanes_to_cells(const float* from, float* to, size_t step) {
  for (int a = 0; a < Group<S>::across; ++a) {
    std::memcpy(to + a * step, from + a * S, S * sizeof(float));
    std::memcpy(to + a * step + S, from + lane_count + a * S, S * sizeof(float));
  }
}

// First pass: every grid row to image columns, in place; column i of the region ends in cell i of the row.
template <int S>
HWY_NOINLINE void transform_rows(const GridrecPlan& plan, GridrecScratch& scratch) {
  constexpr int A = Group<S>::across;
  const int n = plan.grid, half = n / 2, width = plan.grid_cols();
  const size_t cell = 2 * S, pitch = size_t(width) * cell;
  float* const x = scratch.signal.data();
  const LaneTag d;
  for (int v = 0; v <= half; v += A) {
    // The last block may reach beyond: those rows are there (spare_rows) and not used again.
    float* const row = scratch.grid.data() + size_t(v + plan.margin) * pitch;
    for (int k = 0; k < n; ++k) {
      const int u = k < half ? k : k - n;
      cells_to_lanes<S>(row + size_t(u + half + plan.margin) * cell, pitch, x + k * element);
    }
    alignas(64) float extra[element];
    for (int t = 0; t <= plan.margin; ++t)
      for (int side = 0; side < 2; ++side) {
        if (side == 0 && t == 0) continue;
        const int u = side == 0 ? -half - t : half + t;
        cells_to_lanes<S>(row + size_t(u + half + plan.margin) * cell, pitch, extra);
        float* const to = x + size_t(side == 0 ? half - t : half + t) * element;
        for (size_t i = 0; i < element; i += lane_count)
          hn::Store(hn::Add(hn::Load(d, to + i), hn::Load(d, extra + i)), d, to + i);
      }
    const float* const image = transform(plan.across, x, scratch.work.data(), true);
    for (int i = 0; i < plan.cols; ++i) {
      const int at = (plan.desc.col0 + i - plan.size / 2 + n) % n;
      lanes_to_cells<S>(image + at * element, row + i * cell, pitch);
    }
  }
}

// Second pass: columns of the half plane to real image columns, in place: cell k of a column becomes the
// values of image rows 2k and 2k + 1, [S][S].
template <int S>
HWY_NOINLINE void transform_columns(const GridrecPlan& plan, GridrecScratch& scratch) {
  constexpr int A = Group<S>::across;
  const int half = plan.grid / 2;
  const size_t cell = 2 * S, pitch = size_t(plan.grid_cols()) * cell;
  float* const x = scratch.signal.data();
  for (int first = 0; first < plan.cols; first += A) {
    float* const column = scratch.grid.data() + plan.margin * pitch + size_t(first) * cell;
    for (int v = 0; v <= half; ++v) {
      // Columns are too far apart for the hardware to fetch the next ones ahead.
      for (size_t ahead = A * cell; ahead < 2 * A * cell; ahead += 16)
        hwy::Prefetch(column + v * pitch + ahead);
      cells_to_lanes<S>(column + v * pitch, cell, x + v * element);
    }
    const float* const image = real_inverse(plan.radial, x, scratch.work.data());
    for (int k = 0; k < half; ++k) lanes_to_cells<S>(image + k * element, column + k * pitch, cell);
  }
}

// Four channels (rows x slices) of a row of cells to their images; null channels are left out.
HWY_INLINE void write_channels(const GridrecPlan& plan, const float* cells, size_t cell, float* const* to,
                               const float* factor) {
  const hn::FixedTag<float, 4> d;
  alignas(16) float block[16];
  for (int i = 0; i < plan.cols; i += 4) {
    transpose4(cells + i * cell, cell, block, 4);
    const auto by_column = hn::LoadU(d, plan.col_factor.data() + i);
    const int count = HWY_MIN(4, plan.cols - i);
    for (int c = 0; c < 4; ++c) {
      if (to[c] == nullptr) continue;
      const auto v = hn::Mul(hn::Load(d, block + 4 * c), hn::Mul(by_column, hn::Set(d, factor[c])));
      if (count == 4) {
        hn::StoreU(v, d, to[c] + i);
      } else {
        hn::Store(v, d, block + 4 * c);
        std::memcpy(to[c] + i, block + 4 * c, count * sizeof(float));
      }
    }
  }
}

// The finished grid to the images, times 1 / (transform of the interpolation kernel).
template <int S>
HWY_NOINLINE void write_images(const GridrecPlan& plan, const GridrecScratch& scratch, const GroupJob& job) {
  const int n = plan.grid;
  const size_t cell = 2 * S, pitch = size_t(plan.grid_cols()) * cell, image = size_t(plan.rows) * plan.cols;
  for (int k = 0; k < n / 2; ++k) {
    const float* const cells = scratch.grid.data() + size_t(plan.margin + k) * pitch;
    for (int channel = 0; channel < 2 * S; channel += 4) {
      float* to[4];
      float factor[4];
      bool any = false;
      for (int c = 0; c < 4; ++c) {
        const int s = (channel + c) % S, t = 2 * k + (channel + c) / S;
        const int r = (t + plan.size / 2 - plan.desc.row0 + n) % n;  // image row, if it lies in the region
        const bool wanted = s < job.count && r < plan.rows;
        to[c] = wanted ? job.out + s * image + size_t(r) * plan.cols : nullptr;
        factor[c] = wanted ? plan.row_factor[r] : 0.0f;
        any = any || wanted;
      }
      if (any) write_channels(plan, cells + channel, cell, to, factor);
    }
  }
}

template <int S>
HWY_INLINE void run_group(const GridrecPlan& plan, GridrecScratch& scratch, const GroupJob& job) {
  project_to_grid<S>(plan, scratch, job);
  fold_grid<S>(plan, scratch.grid.data());
  transform_rows<S>(plan, scratch);
  transform_columns<S>(plan, scratch);
  write_images<S>(plan, scratch, job);
}

void run_small_group(const GridrecPlan& plan, GridrecScratch& scratch, const GroupJob& job) {
  run_group<small_group>(plan, scratch, job);
}

void run_large_group(const GridrecPlan& plan, GridrecScratch& scratch, const GroupJob& job) {
  // Vectors of four lanes take the group in two halves.
  constexpr int at_once = HWY_MIN(lane_count, large_group);
  for (int first = 0; first < job.count; first += at_once) {
    const GroupJob part{job.sino + size_t(first) * plan.desc.angles * plan.desc.columns,
                        job.centres == nullptr ? nullptr : job.centres + first,
                        HWY_MIN(at_once, job.count - first), job.out + size_t(first) * plan.rows * plan.cols};
    run_group<at_once>(plan, scratch, part);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();
#endif  // per-target guard
