#include "tests/bench/kernels/peers.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/bench/kernels/timing.hpp"

namespace bench_kernels {
namespace {

using GridrecFunction = void (*)(const float* data, int dy, int dt, int dx, const float* centre,
                                 const float* theta, float* recon, int rows, int cols, const char* filter,
                                 const float* parameters);
using OsemFunction = void (*)(const float* data, int dy, int dt, int dx, const float* centre,
                              const float* theta, float* recon, int rows, int cols, int iterations,
                              int blocks, const int* order);

template <typename Function>
Function tomopy_function(const Options& options, const char* name) {
  if (options.tomopy_library.empty()) return nullptr;
  void* const library = dlopen(options.tomopy_library.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

std::string why_no_tomopy(const Options& options) {
  return options.tomopy_library.empty() ? "TomoPy: no --tomopy-lib"
                                        : "TomoPy: can't load " + options.tomopy_library;
}

std::string compared(const char* name, double theirs, double ours, const char* unit, double scale) {
  return format("%s %.2f %s (%.1f x)", name, theirs * scale, unit, theirs / ours);
}

}  // namespace

std::string tomopy_gridrec(const Options& options, const Scan& scan, bool padded, double seconds) {
  const auto gridrec = tomopy_function<GridrecFunction>(options, "gridrec");
  if (gridrec == nullptr) return why_no_tomopy(options);
  const int slices = 2, width = padded ? 2 * scan.columns : scan.columns, side = (width - scan.columns) / 2;
  std::vector<float> data(std::size_t(slices) * scan.angles * width);
  for (int r = 0; r < slices * scan.angles; ++r)
    std::copy_n(scan.sino.data() + std::size_t(r) * scan.columns, scan.columns,
                data.data() + std::size_t(r) * width + side);
  const std::vector<float> centre(slices, static_cast<float>((width - 1) / 2.0)),
      theta(scan.theta.begin(), scan.theta.end());
  std::vector<float> image(std::size_t(slices) * width * width);
  const float parameters[] = {0.5f, 8.0f};
  const double theirs = cpu_seconds("tomopy", options,
                                    [&] {
                                      gridrec(data.data(), slices, scan.angles, width, centre.data(),
                                              theta.data(), image.data(), width, width, "shepp", parameters);
                                    }) /
                        slices;
  return compared("TomoPy", theirs, seconds, "ms", 1e3);
}

std::string tomopy_mlem(const Options& options, const Scan& scan, double seconds) {
  const auto osem = tomopy_function<OsemFunction>(options, "osem");
  if (osem == nullptr) return why_no_tomopy(options);
  std::vector<float> image(std::size_t(scan.columns) * scan.columns, 1e-6f);
  const float centre = static_cast<float>(scan.columns / 2.0);
  const std::vector<float> theta(scan.theta.begin(), scan.theta.end());
  std::vector<int> order(scan.angles);
  for (int a = 0; a < scan.angles; ++a) order[a] = a;
  Options once = options;
  once.seconds = 1e-3;
  const double theirs = cpu_seconds("tomopy", once, [&] {
    osem(scan.sino.data(), 1, scan.angles, scan.columns, &centre, theta.data(), image.data(), scan.columns,
         scan.columns, 1, 1, order.data());
  });
  return compared("TomoPy", theirs, seconds, "ms", 1e3);
}

std::string sklearn_kmeans(const Options& options, int k, int d, double seconds) {
  if (options.python.empty()) return "scikit-learn: no --python";
  const std::string script = format(
      "import time,numpy as n,sklearn;from sklearn.cluster import MiniBatchKMeans as M;"
      "r=n.random.RandomState(1);p=r.randn(20,5000,%d).astype('f');"
      "m=M(%d,init=p[0][:%d],n_init=1,reassignment_ratio=0,batch_size=5000);t=[]\n",
      d, k, k);
  const std::string loop =
      "for i in range(60):\n a=time.process_time();m.partial_fit(p[i%20]);t.append(time.process_time()-a)\n"
      "print(sklearn.__version__,sorted(t)[30])";
  const std::string command = "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 '" +
                              options.python + "' -W ignore -c \"" + script + loop + "\" 2>/dev/null";
  FILE* const pipe = popen(command.c_str(), "r");
  char version[32] = "";
  double theirs = 0;
  const int read = pipe == nullptr ? 0 : std::fscanf(pipe, "%31s %lf", version, &theirs);
  if (pipe != nullptr) pclose(pipe);
  if (read != 2) return "scikit-learn: not with " + options.python;
  return format("scikit-learn %s %.1f Mpts/s (%.0f x)", version, 5000 / theirs * 1e-6, theirs / seconds);
}

}  // namespace bench_kernels
