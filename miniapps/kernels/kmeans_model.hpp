// The model of streaming k-means, the sums of a batch, and the rules that make the next model of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "miniapps/kernels/aligned_buffer.hpp"

namespace miniapps::kernels {

struct KmeansModel {
  KmeansModel(int clusters, int dimensions);
  int k, d;
  std::vector<double> centres;  // [k][d]
  std::vector<float> rounded;   // the same in float
  std::vector<double> weights;  // [k]
  void round();                 // renews `rounded`
};

// Points in a block: the most that four vectors hold.
inline constexpr int kmeans_block = 64;

// Written at every point: its cache lines are its own, or threads side by side would wait for each other.
struct alignas(64) KmeansPartial {
  KmeansPartial(int clusters, int dimensions);
  int k, d;
  LineVector<double> sums;          // [k][d]
  LineVector<std::int64_t> counts;  // [k]
  std::int64_t skipped = 0;
  double inertia = 0;
  // Scratch of an assignment: a block of points by coordinate, and for small models several sets of sums, so
  // that consecutive points of one cluster don't wait for each other.
  AlignedBuffer<double> block;  // [d][kmeans_block]
  int banks = 1;
  LineVector<double> bank_sums;  // [banks][k][d]

  void clear();
  void merge(const KmeansPartial& other);
};

// labels may be null.
void assign(const KmeansModel& model, KmeansPartial& partial, const float* points, std::int64_t n,
            std::int32_t* labels);
void assign(const KmeansModel& model, KmeansPartial& partial, const double* points, std::int64_t n,
            std::int32_t* labels);

// Arguments as pk_kmeans_update, checked.
void update_model(KmeansModel& model, const KmeansPartial& partial, int rule, double decay);

// Arguments as pk_kmeans_reassign_f32, checked; returns how many centres got a new place.
template <typename T>
int reassign_light_centres(KmeansModel& model, const T* points, std::int64_t n, double ratio,
                           std::uint64_t seed);

void random_centres(int k, int d, std::uint64_t seed, double* centres);
// False if there are no finite points.
template <typename T>
bool plus_plus_centres(const T* points, std::int64_t n, int k, int d, std::uint64_t seed, double* centres);

std::vector<unsigned char> save_model(const KmeansModel& model);
// The model, or what is wrong with the bytes in *problem.
std::optional<KmeansModel> load_model(const unsigned char* bytes, std::size_t size, std::string* problem);

}  // namespace miniapps::kernels
