#include <random>

#include "tests/bench/kernels/cases.hpp"
#include "tests/bench/kernels/peers.hpp"
#include "tests/bench/kernels/timing.hpp"

namespace bench_kernels {
namespace {

constexpr int batch = 5000, batches = 20;

Row measure(int k, int d, double goal, const char* recorded, const Options& options) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> points(std::size_t(batch) * batches * d);
  for (float& v : points) v = normal(random);
  std::vector<double> centres(std::size_t(k) * d);
  pk_kmeans_random_centres(k, d, 1, centres.data(), nullptr);
  pk_kmeans_model* model = nullptr;
  pk_kmeans_partial* partial = nullptr;
  pk_kmeans_create(k, d, centres.data(), nullptr, &model, nullptr);
  const Owner<pk_kmeans_model> model_owner(model);
  pk_kmeans_partial_create(k, d, &partial, nullptr);
  const Owner<pk_kmeans_partial> partial_owner(partial);
  Row row;
  row.name = format("KMeans k=%d d=%d", k, d);
  int next = 0;
  const Times times = cpu_times(row.name, options, [&] {
    pk_kmeans_partial_clear(partial);
    pk_kmeans_assign_f32(model, partial, points.data() + std::size_t(next++ % batches) * batch * d, batch,
                         nullptr, nullptr);
    pk_kmeans_update(model, partial, PK_KMEANS_DECAY_BATCHES, 1, nullptr);
  });
  row.seconds = times.median;
  row.least = times.least;
  const double rate = batch / row.seconds * 1e-6;
  row.flops = 3.0 * batch * k * d;
  row.bytes = 4.0 * batch * d;
  row.shown = format("%.1f (%.1f) Mpts/s", rate, batch / row.least * 1e-6);
  row.goal = goal > 0 ? format(">= %.0f", goal) : "";
  row.reached = goal <= 0 || rate >= goal;
  row.peer = sklearn_kmeans(options, k, d, row.seconds, recorded);
  return row;
}

}  // namespace

std::vector<Row> measure_kmeans(const Options& options) {
  return {measure(10, 3, 150, "11.3 Mpts/s", options), measure(10, 32, 0, "6.4 Mpts/s", options),
          measure(100, 3, 0, "3.7 Mpts/s", options), measure(100, 32, 8, "2.5 Mpts/s", options)};
}

}  // namespace bench_kernels
