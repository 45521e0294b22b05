// Two threads on two cores: how much more they do than one.
#include <atomic>
#include <ctime>
#include <functional>
#include <random>
#include <thread>

#include "tests/bench/kernels/cases.hpp"
#include "tests/bench/kernels/timing.hpp"

namespace bench_kernels {
namespace {

// Processor time of the calling thread in some pieces of work.
class ProcessorTime {
 public:
  template <typename Work>
  void add(Work work) {
    const double begin = now();
    work();
    seconds_ += now() - begin;
    ++pieces_;
  }
  double mean() const { return seconds_ / pieces_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  double seconds_ = 0;
  int pieces_ = 0;
};

// A second thread that stays, as an engine's workers do: what is measured is the work, not its creation.  It
// waits by looking, since waking one that sleeps takes as long as a small batch.
class Partner {
 public:
  explicit Partner(std::function<void()> work) : thread_([this, w = std::move(work)] { serve(w); }) {}
  ~Partner() {
    asked_ = -1;
    thread_.join();
  }
  void begin() { ++asked_; }
  void wait() const {
    while (done_ != asked_) pause();
  }

 private:
  void serve(const std::function<void()>& work) {
    for (int number = 1;; ++number) {
      for (int spins = 0; asked_ >= 0 && asked_ < number; ++spins)
        if (spins > patience)
          std::this_thread::yield();
        else
          pause();
      if (asked_ < 0) return;
      work();
      done_ = number;
    }
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  static constexpr int patience = 1 << 14;
  alignas(64) std::atomic<int> asked_{0};
  alignas(64) std::atomic<int> done_{0};
  std::thread thread_;  // last: it uses the others
};

// How often `work` fills 20 ms: threads that share nothing but a plan don't meet after every small batch.
int pieces_of(const std::function<void(int)>& work) {
  work(0);
  ProcessorTime time;
  for (int i = 0; i < 3; ++i) time.add([&] { work(0); });
  return 1 + static_cast<int>(0.02 / time.mean());
}

// piece(t) is the work of thread t; both must be the same amount.
Row measure(const std::string& name, const Options& options, const std::function<void(int)>& piece) {
  const int pieces = pieces_of(piece);
  const auto work = [&](int t) {
    for (int i = 0; i < pieces; ++i) piece(t);
  };
  // Alternately, so that what else the machine does meets both alike.
  constexpr int rounds = 5;
  std::vector<double> ratios;
  ProcessorTime alone, together;
  double least_one = 1e300, least_two = 1e300;
  Options part = options;
  part.seconds = options.seconds / rounds;
  for (int i = 0; i < rounds; ++i) {
    const Times one = wall_times(name + " one", part, [&] { alone.add([&] { work(0); }); });
    Partner partner([&] { work(1); });
    const Times two = wall_times(name + " two", part, [&] {
      partner.begin();
      together.add([&] { work(0); });
      partner.wait();
    });
    ratios.push_back(2 * one.median / two.median);
    least_one = std::min(least_one, one.least);
    least_two = std::min(least_two, two.least);
  }
  std::sort(ratios.begin(), ratios.end());
  Row row;
  row.name = name + ", two threads";
  row.shown = format("%.2f (%.2f) x", ratios[rounds / 2], 2 * least_one / least_two);
  row.goal = ">= 1.9";
  row.reached = ratios[rounds / 2] >= 1.9;
  row.peer = format("%u processors", std::thread::hardware_concurrency());
  // Where others use the machine this tells what the threads cost each other.
  row.quality = format("processor time x %.2f beside the other", together.mean() / alone.mean());
  return row;
}

// Arithmetic in registers: what two threads can do on this machine, where other users' share of it is felt
// too.
Row measure_limit(const Options& options) {
  std::atomic<double> sink[2][16] = {};  // a cache line and more each
  Row row = measure("arithmetic in registers", options, [&](int t) {
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 200'000; ++i)
      for (double& value : x) value = value * 0.999'999 + 1e-6;
    double sum = 0;
    for (const double value : x) sum += value;
    sink[t][0] = sum;
  });
  row.goal = "limit";
  row.reached = true;
  return row;
}

Row measure_gridrec_threads(const Options& options) {
  const Scan scan = make_scan(360, 512, 8);
  pk_gridrec_desc desc;
  pk_gridrec_desc_init(&desc, 360, 512, scan.theta.data());
  pk_gridrec_plan* plan = nullptr;
  pk_gridrec_plan_create(&desc, &plan, nullptr);
  const Owner<pk_gridrec_plan> owner(plan);
  Owner<pk_gridrec_scratch> scratch[2];
  std::vector<float> image[2];
  for (int t = 0; t < 2; ++t) {
    pk_gridrec_scratch* made = nullptr;
    pk_gridrec_scratch_create(plan, 8, &made, nullptr);
    scratch[t].reset(made);
    image[t].resize(8 * 512 * 512);
  }
  return measure("GridRec", options, [&](int t) {
    pk_gridrec_run(plan, scratch[t].get(), scan.sino.data(), nullptr, 8, image[t].data(), nullptr);
  });
}

Row measure_mlem_threads(const Options& options) {
  const Scan scan = make_scan(180, 256, 4);
  pk_iterative_desc desc;
  pk_iterative_desc_init(&desc, 180, 256, scan.theta.data());
  pk_iterative_plan* plan = nullptr;
  pk_iterative_plan_create(&desc, &plan, nullptr);
  const Owner<pk_iterative_plan> owner(plan);
  Owner<pk_iterative_scratch> scratch[2];
  std::vector<float> image[2];
  for (int t = 0; t < 2; ++t) {
    pk_iterative_scratch* made = nullptr;
    pk_iterative_scratch_create(plan, &made, nullptr);
    scratch[t].reset(made);
    image[t].resize(4 * 256 * 256);
  }
  return measure("ML-EM", options, [&](int t) {
    pk_iterative_run(plan, scratch[t].get(), scan.sino.data(), nullptr, 4, 2, 0, image[t].data(), nullptr,
                     nullptr, nullptr);
  });
}

Row measure_kmeans_threads(int k, int d, int n, const Options& options) {
  std::mt19937 random(1);
  std::vector<float> points(std::size_t(n) * d);
  for (float& v : points) v = std::normal_distribution<float>()(random);
  std::vector<double> centres(std::size_t(k) * d);
  pk_kmeans_random_centres(k, d, 1, centres.data(), nullptr);
  pk_kmeans_model* model = nullptr;
  pk_kmeans_create(k, d, centres.data(), nullptr, &model, nullptr);
  const Owner<pk_kmeans_model> owner(model);
  Owner<pk_kmeans_partial> partial[2];
  for (auto& p : partial) {
    pk_kmeans_partial* made = nullptr;
    pk_kmeans_partial_create(k, d, &made, nullptr);
    p.reset(made);
  }
  return measure(format("KMeans k=%d d=%d", k, d), options, [&](int t) {
    pk_kmeans_assign_f32(model, partial[t].get(), points.data(), n, nullptr, nullptr);
  });
}

}  // namespace

std::vector<Row> measure_threads(const Options& options) {
  return {measure_limit(options), measure_gridrec_threads(options), measure_mlem_threads(options),
          measure_kmeans_threads(10, 3, 100'000, options), measure_kmeans_threads(100, 32, 20'000, options)};
}

}  // namespace bench_kernels
