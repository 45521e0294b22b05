#include "miniapps/kernels/kmeans_model.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "miniapps/kernels/kmeans_assign.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace miniapps::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Points are lanes: a block of `block_points` is turned to [coordinate][point], then every centre is compared
// with four vectors of points at once.  Distances are sums of squared differences, not |x|^2 - 2 x c + |c|^2,
// which cancels.
template <typename T>
struct Blocks {
  using D = hn::ScalableTag<T>;
  using DI = hn::RebindToSigned<D>;
  static constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int vectors = 4;
  static constexpr int block_points = lanes * vectors;
  static_assert(block_points <= kmeans_block);
};

// Four points of four coordinates each.
HWY_INLINE void turn4(const float* from, size_t from_step, float* to, size_t to_step) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> dd;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_step);
  const auto c = hn::LoadU(d, from + 2 * from_step), e = hn::LoadU(d, from + 3 * from_step);
  const auto ab0 = hn::BitCast(dd, hn::InterleaveLower(d, a, b)),
             ab1 = hn::BitCast(dd, hn::InterleaveUpper(d, a, b));
  const auto ce0 = hn::BitCast(dd, hn::InterleaveLower(d, c, e)),
             ce1 = hn::BitCast(dd, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab0, ce0)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab0, ce0)), d, to + to_step);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab1, ce1)), d, to + 2 * to_step);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab1, ce1)), d, to + 3 * to_step);
}

template <typename T>
HWY_INLINE void to_coordinates(const T* HWY_RESTRICT points, int count, int d, T* HWY_RESTRICT block) {
  using B = Blocks<T>;
  const typename B::D tag;
  constexpr size_t P = B::block_points;
  if (count == int(P) && d == 3) {
    for (int v = 0; v < B::vectors; ++v) {
      hn::Vec<typename B::D> x, y, z;
      hn::LoadInterleaved3(tag, points + v * B::lanes * 3, x, y, z);
      hn::Store(x, tag, block + v * B::lanes);
      hn::Store(y, tag, block + P + v * B::lanes);
      hn::Store(z, tag, block + 2 * P + v * B::lanes);
    }
    return;
  }
  if (count == int(P) && d == 2) {
    for (int v = 0; v < B::vectors; ++v) {
      hn::Vec<typename B::D> x, y;
      hn::LoadInterleaved2(tag, points + v * B::lanes * 2, x, y);
      hn::Store(x, tag, block + v * B::lanes);
      hn::Store(y, tag, block + P + v * B::lanes);
    }
    return;
  }
  int p = 0;
  if constexpr (sizeof(T) == 4)
    for (; p + 4 <= count; p += 4) {
      int j = 0;
      for (; j + 4 <= d; j += 4) turn4(points + size_t(p) * d + j, d, block + size_t(j) * P + p, P);
      for (; j < d; ++j)
        for (int i = 0; i < 4; ++i) block[size_t(j) * P + p + i] = points[size_t(p + i) * d + j];
    }
  for (; p < count; ++p)
    for (int j = 0; j < d; ++j) block[size_t(j) * P + p] = points[size_t(p) * d + j];
  for (; p < int(P); ++p)
    for (int j = 0; j < d; ++j) block[size_t(j) * P + p] = 0;
}

// The nearest so far of a block.
template <typename T>
struct Nearest {
  using B = Blocks<T>;
  // Written out, for an implied one would not be compiled for the instruction set (gcc on arm64 refuses).
  HWY_INLINE Nearest() {}
  hn::Vec<typename B::D> distance[B::vectors];
  hn::Vec<typename B::DI> label[B::vectors];
};

// Compares `C` centres, the first of them number `first`.  Not a number is never less, so such points keep
// label -1.
template <typename T, int C>
HWY_INLINE void compare_centres(const T* HWY_RESTRICT block, const T* HWY_RESTRICT centres, int d, int first,
                                Nearest<T>& nearest) {
  using B = Blocks<T>;
  const typename B::D tag;
  const typename B::DI itag;
  hn::Vec<typename B::D> sum[C][B::vectors];
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < B::vectors; ++v) sum[c][v] = hn::Zero(tag);
  for (int j = 0; j < d; ++j) {
    hn::Vec<typename B::D> x[B::vectors];
    for (int v = 0; v < B::vectors; ++v)
      x[v] = hn::Load(tag, block + size_t(j) * B::block_points + v * B::lanes);
    for (int c = 0; c < C; ++c) {
      const auto centre = hn::Set(tag, centres[size_t(c) * d + j]);
      for (int v = 0; v < B::vectors; ++v) {
        const auto difference = hn::Sub(x[v], centre);
        sum[c][v] = hn::MulAdd(difference, difference, sum[c][v]);
      }
    }
  }
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < B::vectors; ++v) {
      const auto less = hn::Lt(sum[c][v], nearest.distance[v]);
      nearest.distance[v] = hn::IfThenElse(less, sum[c][v], nearest.distance[v]);
      nearest.label[v] =
          hn::IfThenElse(hn::RebindMask(itag, less), hn::Set(itag, first + c), nearest.label[v]);
    }
}

template <typename T>
HWY_INLINE void add_point(const T* HWY_RESTRICT point, int d, double* HWY_RESTRICT sum) {
  int j = 0;
  if constexpr (sizeof(T) == 4) {
    const hn::ScalableTag<double> dd;
    const hn::Rebind<float, decltype(dd)> df;
    for (; j + int(hn::Lanes(dd)) <= d; j += int(hn::Lanes(dd)))
      hn::StoreU(hn::Add(hn::LoadU(dd, sum + j), hn::PromoteTo(dd, hn::LoadU(df, point + j))), dd, sum + j);
  }
  for (; j < d; ++j) sum[j] += point[j];
}

// D: the dimension if it is known here, so that the loop over coordinates is unrolled; else 0.
template <typename T, int D, typename Label>
HWY_INLINE void add_block(KmeansPartial& partial, const T* points, int count, const Label* labels,
                          const T* distances, std::int32_t* out) {
  const int d = D > 0 ? D : partial.d;
  const size_t bank_size = partial.sums.size();
  double* const banks = partial.bank_sums.data();
  std::int64_t* const counts = partial.counts.data();
  const int last_bank = partial.banks - 1;
  double inertia = partial.inertia;
  for (int p = 0; p < count; ++p) {
    const int label = static_cast<int>(labels[p]);
    if (out != nullptr) out[p] = label;
    if (label < 0) {
      ++partial.skipped;
      continue;
    }
    ++counts[label];
    inertia += distances[p];
    double* const sum = banks + size_t(p & last_bank) * bank_size + size_t(label) * d;
    if constexpr (D > 0) {
      for (int j = 0; j < D; ++j) sum[j] += points[size_t(p) * D + j];
    } else {
      add_point(points + size_t(p) * d, d, sum);
    }
  }
  partial.inertia = inertia;
}

template <typename T>
HWY_INLINE void assign_points(const T* centres, int k, int d, KmeansPartial& partial, const T* points,
                              std::int64_t n, std::int32_t* labels) {
  using B = Blocks<T>;
  const typename B::D tag;
  const typename B::DI itag;
  T* const block = reinterpret_cast<T*>(partial.block.data());
  std::fill(partial.bank_sums.begin(), partial.bank_sums.end(), 0.0);
  for (std::int64_t first = 0; first < n; first += B::block_points) {
    const int count = static_cast<int>(HWY_MIN(std::int64_t(B::block_points), n - first));
    const T* const here = points + first * d;
    to_coordinates(here, count, d, block);
    Nearest<T> nearest;
    for (int v = 0; v < B::vectors; ++v) {
      nearest.distance[v] = hn::Set(tag, std::numeric_limits<T>::infinity());
      nearest.label[v] = hn::Set(itag, -1);
    }
    int c = 0;
    for (; c + 2 <= k; c += 2) compare_centres<T, 2>(block, centres + size_t(c) * d, d, c, nearest);
    if (c < k) compare_centres<T, 1>(block, centres + size_t(c) * d, d, c, nearest);
    alignas(64) hn::TFromD<typename B::DI> found[B::block_points];
    alignas(64) T distances[B::block_points];
    for (int v = 0; v < B::vectors; ++v) {
      hn::Store(nearest.label[v], itag, found + v * B::lanes);
      hn::Store(nearest.distance[v], tag, distances + v * B::lanes);
    }
    std::int32_t* const out = labels == nullptr ? nullptr : labels + first;
    if (d == 3)
      add_block<T, 3>(partial, here, count, found, distances, out);
    else if (d == 2)
      add_block<T, 2>(partial, here, count, found, distances, out);
    else
      add_block<T, 0>(partial, here, count, found, distances, out);
  }
  for (int b = 0; b < partial.banks; ++b)
    for (size_t i = 0; i < partial.sums.size(); ++i)
      partial.sums[i] += partial.bank_sums[b * partial.sums.size() + i];
}

void assign_f32(const KmeansModel& model, KmeansPartial& partial, const float* points, std::int64_t n,
                std::int32_t* labels) {
  assign_points(model.rounded.data(), model.k, model.d, partial, points, n, labels);
}
void assign_f64(const KmeansModel& model, KmeansPartial& partial, const double* points, std::int64_t n,
                std::int32_t* labels) {
  assign_points(model.centres.data(), model.k, model.d, partial, points, n, labels);
}

}  // namespace HWY_NAMESPACE
}  // namespace miniapps::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace miniapps::kernels {

HWY_EXPORT(assign_f32);
HWY_EXPORT(assign_f64);

void assign(const KmeansModel& model, KmeansPartial& partial, const float* points, std::int64_t n,
            std::int32_t* labels) {
  HWY_DYNAMIC_DISPATCH(assign_f32)(model, partial, points, n, labels);
}
void assign(const KmeansModel& model, KmeansPartial& partial, const double* points, std::int64_t n,
            std::int32_t* labels) {
  HWY_DYNAMIC_DISPATCH(assign_f64)(model, partial, points, n, labels);
}

}  // namespace miniapps::kernels
#endif
