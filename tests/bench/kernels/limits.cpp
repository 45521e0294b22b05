// What one core of this machine can do: arithmetic, memory, transforms.
#include <fstream>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/kernels/limits.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace bench_kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Floating-point operations of one call; the result keeps the compiler from leaving them out.
double fused_operations(float* out) {
  const hn::ScalableTag<float> d;
  constexpr int chains = 12, rounds = 20000;
  const auto factor = hn::Set(d, 0.999f), addend = hn::Set(d, 0.001f);
  hn::Vec<decltype(d)> v[chains];
  for (int c = 0; c < chains; ++c) v[c] = hn::Set(d, static_cast<float>(c));
  for (int r = 0; r < rounds; ++r)
    for (int c = 0; c < chains; ++c) v[c] = hn::MulAdd(v[c], factor, addend);
  auto sum = hn::Zero(d);
  for (int c = 0; c < chains; ++c) sum = hn::Add(sum, v[c]);
  out[0] = hn::GetLane(hn::SumOfLanes(d, sum));
  return 2.0 * chains * rounds * static_cast<double>(hn::Lanes(d));
}

void triad(const float* b, const float* c, float* a, size_t n) {
  const hn::ScalableTag<float> d;
  const auto s = hn::Set(d, 3.0f);
  for (size_t i = 0; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
    hn::Store(hn::MulAdd(s, hn::Load(d, c + i), hn::Load(d, b + i)), d, a + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace bench_kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>
#include <cstring>
#include <vector>

#include "miniapps/kernels/aligned_buffer.hpp"
#include "miniapps/kernels/lane_fft.hpp"
#include "tests/bench/kernels/timing.hpp"

#ifdef BENCH_KERNELS_FFTW
#include <fftw3.h>
#endif
#ifdef BENCH_KERNELS_KISSFFT
#include <kiss_fft.h>
#endif

namespace bench_kernels {
namespace {

HWY_EXPORT(fused_operations);
HWY_EXPORT(triad);

using miniapps::kernels::AlignedBuffer;

double triad_rate(std::size_t floats, const Options& options) {
  AlignedBuffer<float> a(floats), b(floats), c(floats);
  for (auto* v : {&a, &b, &c}) std::memset(v->data(), 0, floats * sizeof(float));
  const Times times = cpu_times("triad", options, [&] {
    HWY_DYNAMIC_DISPATCH(triad)
    (b.data(), c.data(), a.data(), floats);
  });
  return 12.0 * static_cast<double>(floats) / times.least * 1e-9;
}

constexpr int length = 512, batch = 64;
constexpr double transform_flops = batch * 5.0 * length * 9;

double own_fft(const Options& options) {
  const miniapps::kernels::FftPlan plan(length);
  const int lanes = miniapps::kernels::transform_lanes();
  const std::size_t block = std::size_t(length) * 2 * lanes;
  AlignedBuffer<float> x(block * (batch / lanes)), y(block);
  std::memset(x.data(), 0, x.size() * sizeof(float));
  const Times times = cpu_times("own fft", options, [&] {
    for (int b = 0; b < batch / lanes; ++b)
      miniapps::kernels::run_transform(plan, x.data() + b * block, y.data(), false);
  });
  return transform_flops / times.least * 1e-9;
}

#ifdef BENCH_KERNELS_FFTW
double fftw(const Options& options) {
  auto* x = fftwf_alloc_complex(std::size_t(length) * batch);
  auto* y = fftwf_alloc_complex(std::size_t(length) * batch);
  const int n[] = {length};
  const fftwf_plan plan = fftwf_plan_many_dft(1, n, batch, x, nullptr, 1, length, y, nullptr, 1, length,
                                              FFTW_FORWARD, FFTW_MEASURE);
  std::memset(x, 0, sizeof(fftwf_complex) * length * batch);
  const Times times = cpu_times("fftw", options, [&] { fftwf_execute(plan); });
  fftwf_destroy_plan(plan);
  fftwf_free(x);
  fftwf_free(y);
  return transform_flops / times.least * 1e-9;
}
#endif

#ifdef BENCH_KERNELS_KISSFFT
double kissfft(const Options& options) {
  std::vector<kiss_fft_cpx> x(length * batch), y(length * batch);
  const kiss_fft_cfg plan = kiss_fft_alloc(length, 0, nullptr, nullptr);
  const Times times = cpu_times("kissfft", options, [&] {
    for (int b = 0; b < batch; ++b) kiss_fft(plan, x.data() + b * length, y.data() + b * length);
  });
  kiss_fft_free(plan);
  return transform_flops / times.least * 1e-9;
}
#endif

}  // namespace

Limits measure_limits(const Options& options) {
  Limits limits;
  float out = 0;
  double operations = 0;
  const Times times = cpu_times("fma", options, [&] {
    operations = HWY_DYNAMIC_DISPATCH(fused_operations)(&out);
    benchmark::DoNotOptimize(out);
  });
  limits.fma_gflops = operations / times.least * 1e-9;
  limits.triad_gbytes = triad_rate(std::size_t{16} << 20, options);
  limits.triad_l2_gbytes = triad_rate(std::size_t{64} << 10, options);
  limits.own_fft_gflops = own_fft(options);
#ifdef BENCH_KERNELS_FFTW
  limits.fftw_gflops = fftw(options);
#endif
#ifdef BENCH_KERNELS_KISSFFT
  limits.kissfft_gflops = kissfft(options);
#endif
  return limits;
}

}  // namespace bench_kernels
#endif
