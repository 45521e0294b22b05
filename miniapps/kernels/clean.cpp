#include "miniapps/kernels/clean.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace miniapps::kernels {
namespace {

// Median of the finite ones of the eight neighbours (fewer at the edge); 0 if there are none.
template <typename T>
T neighbours_median(const std::vector<T>& above, const std::vector<T>& here, const T* below, int columns,
                    int c) {
  T values[8];
  int n = 0;
  const auto take = [&](T v) {
    if (std::isfinite(static_cast<float>(v))) values[n++] = v;
  };
  for (int i = std::max(c - 1, 0); i <= std::min(c + 1, columns - 1); ++i) {
    if (!above.empty()) take(above[i]);
    if (i != c) take(here[i]);
    if (below != nullptr) take(below[i]);
  }
  if (n == 0) return T(0);
  std::nth_element(values, values + n / 2, values + n);
  return values[n / 2];
}

template <typename T>
std::int64_t remove_zingers_of(T* data, int planes, int rows, int columns, float threshold) {
  std::int64_t replaced = 0;
  std::vector<T> above, here;  // as they were measured: a replaced value is no neighbour
  for (int p = 0; p < planes; ++p) {
    above.clear();
    for (int r = 0; r < rows; ++r) {
      T* const row = data + (std::ptrdiff_t(p) * rows + r) * columns;
      const T* const below = r + 1 < rows ? row + columns : nullptr;
      here.assign(row, row + columns);
      for (int c = 0; c < columns; ++c) {
        const float value = static_cast<float>(here[c]);
        // Cheap test first: a stray photon stands out from one of the values beside it.
        if (c > 0 && c + 1 < columns && std::isfinite(value)) {
          const float side = static_cast<float>(std::min(here[c - 1], here[c + 1]));
          if (value <= side + 0.5f * threshold) continue;
        }
        const T median = neighbours_median(above, here, below, columns, c);
        if (std::isfinite(value) && !(value > static_cast<float>(median) + threshold)) continue;
        row[c] = median;
        ++replaced;
      }
      above.swap(here);
    }
  }
  return replaced;
}

}  // namespace

std::int64_t remove_zingers(std::uint16_t* data, int planes, int rows, int columns, float threshold) {
  return remove_zingers_of(data, planes, rows, columns, threshold);
}
std::int64_t remove_zingers(float* data, int planes, int rows, int columns, float threshold) {
  return remove_zingers_of(data, planes, rows, columns, threshold);
}

// Vo, Atwood, Drakopoulos 2018, "Superior techniques for eliminating ring artifacts in X-ray
// micro-tomography", Optics Express 26, algorithm 3: each column is sorted by value; a detector column that
// responds wrongly then differs from its neighbours all along, and a median over neighbouring columns takes
// it out; values go back to their angles.
void remove_rings(float* sino, int slices, int angles, int columns, int window) {
  std::vector<float> sorted(std::size_t(angles) * columns), values(window);
  std::vector<int> order(std::size_t(angles) * columns);  // [column][rank]
  for (int s = 0; s < slices; ++s) {
    float* const data = sino + std::size_t(s) * angles * columns;
    for (int c = 0; c < columns; ++c) {
      int* const rank = order.data() + std::size_t(c) * angles;
      std::iota(rank, rank + angles, 0);
      const auto at = [&](int a) {
        const float v = data[std::size_t(a) * columns + c];
        return std::isfinite(v) ? v : 0.0f;
      };
      std::stable_sort(rank, rank + angles, [&](int a, int b) { return at(a) < at(b); });
      for (int i = 0; i < angles; ++i) sorted[std::size_t(i) * columns + c] = at(rank[i]);
    }
    for (int i = 0; i < angles; ++i) {
      const float* const row = sorted.data() + std::size_t(i) * columns;
      for (int c = 0; c < columns; ++c) {
        for (int k = 0; k < window; ++k) values[k] = row[std::clamp(c + k - window / 2, 0, columns - 1)];
        std::nth_element(values.begin(), values.begin() + window / 2, values.end());
        data[std::size_t(order[std::size_t(c) * angles + i]) * columns + c] = values[window / 2];
      }
    }
  }
}

}  // namespace miniapps::kernels
