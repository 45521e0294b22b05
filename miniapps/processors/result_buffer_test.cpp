#include "miniapps/processors/result_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace miniapps::processors {
namespace {

TEST(ResultBuffer, IsAlignedForTheDisk) {
  for (std::size_t floats : {1u, 1000u, 100'000u}) {
    ResultBuffer buffer(floats);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.first(1).data()) % disk_alignment, 0u);
  }
}

TEST(ResultBuffer, PoolUsesBuffersAgainWhenNobodyHasThem) {
  ResultBufferPool pool(2);
  auto a = pool.take(100), b = pool.take(100);
  const auto* data = a->first(1).data();
  EXPECT_NE(data, b->first(1).data());
  auto also_a = a;
  a.reset();
  EXPECT_NE(pool.take(100)->first(1).data(), data) << "still in use";
  also_a.reset();
  const auto c = pool.take(50), d = pool.take(50);
  EXPECT_TRUE(c->first(1).data() == data || d->first(1).data() == data);
}

TEST(ResultBuffer, LargerRequestsGetLargerBuffersAndBuffersMayOutliveThePool) {
  std::shared_ptr<ResultBuffer> kept;
  {
    ResultBufferPool pool;
    pool.take(10);
    kept = pool.take(1000);
  }
  EXPECT_GE(kept->capacity(), 1000u);
  kept->first(1000)[999] = 1;
}

}  // namespace
}  // namespace miniapps::processors
