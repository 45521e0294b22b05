// With plan and scratch made, running allocates nothing.  The linker sends this program's calls of malloc,
// calloc, aligned_alloc and operator new, and the kernels', through the counters below (--wrap in
// CMakeLists.txt).
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

#include "miniapps/kernels/testing.hpp"

namespace {
std::atomic<long> allocations{0};
}

extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __real__Znwm(std::size_t size);
void* __real__Znam(std::size_t size);

void* __wrap_malloc(std::size_t size) {
  return ++allocations, __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
  return ++allocations, __real_calloc(count, size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return ++allocations, __real_aligned_alloc(alignment, size);
}
void* __wrap__Znwm(std::size_t size) {
  return ++allocations, __real__Znwm(size);
}
void* __wrap__Znam(std::size_t size) {
  return ++allocations, __real__Znam(size);
}
}

namespace miniapps::kernels::testing {
namespace {

TEST(Allocation, TheCounterCounts) {
  const long before = allocations;
  std::vector<int> v(100);
  EXPECT_EQ(allocations, before + 1);
  const Truth truth = make_truth(generators::shepp_logan(), 4, 16, 7.5);
  const long between = allocations;
  const Gridrec gridrec(describe(4, 16, truth.theta));  // buffers by aligned_alloc
  EXPECT_GT(allocations, between + 5);
}

TEST(Allocation, GridrecRunMakesNone) {
  const Truth truth = make_truth(generators::shepp_logan(), 30, 64, 31.5);
  std::vector<float> sino, out(9 * 64 * 64);
  for (int s = 0; s < 9; ++s) sino.insert(sino.end(), truth.sino.begin(), truth.sino.end());
  Gridrec gridrec(describe(30, 64, truth.theta));
  const long before = allocations;
  ASSERT_EQ(pk_gridrec_run(gridrec.plan(), gridrec.scratch(), sino.data(), nullptr, 9, out.data(), nullptr),
            PK_OK);
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, IterativeRunMakesNone) {
  const Truth truth = make_truth(generators::shepp_logan(), 30, 64, 31.5);
  pk_iterative_desc desc;
  pk_iterative_desc_init(&desc, 30, 64, truth.theta.data());
  desc.method = PK_OSEM;
  desc.subsets = 3;
  pk_iterative_plan* plan = nullptr;
  pk_iterative_scratch* scratch = nullptr;
  ASSERT_EQ(pk_iterative_plan_create(&desc, &plan, nullptr), PK_OK);
  ASSERT_EQ(pk_iterative_scratch_create(plan, &scratch, nullptr), PK_OK);
  std::vector<float> image(64 * 64);
  const long before = allocations;
  ASSERT_EQ(pk_iterative_run(plan, scratch, truth.sino.data(), nullptr, 1, 3, 0, image.data(), nullptr,
                             nullptr, nullptr),
            PK_OK);
  EXPECT_EQ(allocations, before);
  pk_iterative_scratch_destroy(scratch);
  pk_iterative_plan_destroy(plan);
}

TEST(Allocation, KmeansAssignMakesNone) {
  std::vector<double> centres(5 * 3);
  ASSERT_EQ(pk_kmeans_random_centres(5, 3, 1, centres.data(), nullptr), PK_OK);
  pk_kmeans_model* model = nullptr;
  pk_kmeans_partial* partial = nullptr;
  ASSERT_EQ(pk_kmeans_create(5, 3, centres.data(), nullptr, &model, nullptr), PK_OK);
  ASSERT_EQ(pk_kmeans_partial_create(5, 3, &partial, nullptr), PK_OK);
  const std::vector<float> points(300, 1.0f);
  const long before = allocations;
  ASSERT_EQ(pk_kmeans_assign_f32(model, partial, points.data(), 100, nullptr, nullptr), PK_OK);
  ASSERT_EQ(pk_kmeans_update(model, partial, PK_KMEANS_DECAY_BATCHES, 1, nullptr), PK_OK);
  EXPECT_EQ(allocations, before);
  pk_kmeans_partial_destroy(partial);
  pk_kmeans_destroy(model);
}

}  // namespace
}  // namespace miniapps::kernels::testing
