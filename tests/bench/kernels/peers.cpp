#include "tests/bench/kernels/peers.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "tests/bench/kernels/timing.hpp"

namespace bench_kernels {
namespace {

using GridrecFunction = void (*)(const float* data, int dy, int dt, int dx, const float* centre,
                                 const float* theta, float* recon, int rows, int cols, const char* filter,
                                 const float* parameters);
using OsemFunction = void (*)(const float* data, int dy, int dt, int dx, const float* centre,
                              const float* theta, float* recon, int rows, int cols, int iterations,
                              int blocks, const int* order);

// What the interpreter prints; empty if it fails.
std::string ask_python(const Options& options, const std::string& script) {
  const std::string command = "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 '" +
                              options.python + "' -W ignore -c \"" + script + "\" 2>/dev/null";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  return pclose(pipe) == 0 ? text : std::string{};
}

struct Tomopy {
  std::string version;
  GridrecFunction gridrec = nullptr;
  OsemFunction osem = nullptr;
  std::string why_not;
};

template <typename Function>
Function load(const std::string& library, const char* name, std::string& why_not) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol = handle == nullptr ? nullptr : dlsym(handle, name);
  if (symbol == nullptr) {
    const char* const reason = dlerror();
    why_not = reason == nullptr ? library + " has no " + name : reason;
  }
  return reinterpret_cast<Function>(symbol);
}

Tomopy find_tomopy(const Options& options) {
  Tomopy found;
  std::string gridrec = options.tomopy_library, recon = options.tomopy_library;
  if (gridrec.empty()) {
    if (options.python.empty()) return found.why_not = "--no-peers", found;
    std::istringstream answer(
        ask_python(options,
                   "import tomopy;from tomopy.util.extern import gridrec as g, recon as r;"
                   "print(tomopy.__version__);print(g.LIB_TOMOPY_GRIDREC._name);"
                   "print(r.LIB_TOMOPY_RECON._name)"));
    std::getline(answer, found.version);
    std::getline(answer, gridrec);
    std::getline(answer, recon);
    if (recon.empty())
      return found.why_not = options.python + " can't import tomopy, and there is no --tomopy-lib", found;
  }
  found.gridrec = load<GridrecFunction>(gridrec, "gridrec", found.why_not);
  found.osem = load<OsemFunction>(recon, "osem", found.why_not);
  return found;
}

const Tomopy& tomopy(const Options& options) {
  static const Tomopy found = find_tomopy(options);
  return found;
}

std::string absent(const char* name, const char* recorded) {
  return format("%s not here (recorded: %s)", name, recorded);
}

std::string compared(const Tomopy& peer, Times theirs, double ours) {
  return format("TomoPy%s%s %.2f ms (%.1f x)", peer.version.empty() ? "" : " ", peer.version.c_str(),
                theirs.median * 1e3, theirs.median / ours);
}

void run_osem(const Tomopy& peer, const Scan& scan, int iterations, std::vector<float>& image) {
  const float centre = static_cast<float>(scan.columns / 2.0);
  const std::vector<float> theta(scan.theta.begin(), scan.theta.end());
  std::vector<int> order(scan.angles);
  for (int a = 0; a < scan.angles; ++a) order[a] = a;
  peer.osem(scan.sino.data(), 1, scan.angles, scan.columns, &centre, theta.data(), image.data(), scan.columns,
            scan.columns, iterations, 1, order.data());
}

}  // namespace

std::string tomopy_gridrec(const Options& options, const Scan& scan, bool padded, double seconds,
                           const char* recorded) {
  const Tomopy& peer = tomopy(options);
  if (peer.gridrec == nullptr) return absent("TomoPy", recorded);
  const int slices = 2, width = padded ? 2 * scan.columns : scan.columns, side = (width - scan.columns) / 2;
  std::vector<float> data(std::size_t(slices) * scan.angles * width);
  for (int r = 0; r < slices * scan.angles; ++r)
    std::copy_n(scan.sino.data() + std::size_t(r) * scan.columns, scan.columns,
                data.data() + std::size_t(r) * width + side);
  const std::vector<float> centre(slices, static_cast<float>((width - 1) / 2.0)),
      theta(scan.theta.begin(), scan.theta.end());
  std::vector<float> image(std::size_t(slices) * width * width);
  const float parameters[] = {0.5f, 8.0f};
  const Times theirs = cpu_times("TomoPy's gridrec", options, [&] {
    peer.gridrec(data.data(), slices, scan.angles, width, centre.data(), theta.data(), image.data(), width,
                 width, "shepp", parameters);
  });
  return compared(peer, theirs.per(slices), seconds);
}

std::string tomopy_mlem(const Options& options, const Scan& scan, double seconds, const char* recorded) {
  const Tomopy& peer = tomopy(options);
  if (peer.osem == nullptr) return absent("TomoPy", recorded);
  std::vector<float> image(std::size_t(scan.columns) * scan.columns, 1e-6f);
  Options once = options;
  once.seconds = 1e-3;
  return compared(peer, cpu_times("TomoPy's osem", once, [&] { run_osem(peer, scan, 1, image); }), seconds);
}

std::vector<float> tomopy_mlem_image(const Options& options, const Scan& scan, int iterations) {
  const Tomopy& peer = tomopy(options);
  if (peer.osem == nullptr) return {};
  std::fprintf(stderr, "running %d iterations of TomoPy's osem\n", iterations);
  std::vector<float> image(std::size_t(scan.columns) * scan.columns, 1e-6f);
  run_osem(peer, scan, iterations, image);
  return image;
}

std::string sklearn_kmeans(const Options& options, int k, int d, double seconds, const char* recorded) {
  if (options.python.empty()) return absent("scikit-learn", recorded);
  const std::string script = format(
      "import time,numpy as n,sklearn;from sklearn.cluster import MiniBatchKMeans as M;"
      "r=n.random.RandomState(1);p=r.randn(20,5000,%d).astype('f');"
      "m=M(%d,init=p[0][:%d],n_init=1,reassignment_ratio=0,batch_size=5000);t=[]\n",
      d, k, k);
  const std::string loop =
      "for i in range(60):\n a=time.process_time();m.partial_fit(p[i%20]);t.append(time.process_time()-a)\n"
      "print(sklearn.__version__,sorted(t)[30])";
  char version[32] = "";
  double theirs = 0;
  if (std::sscanf(ask_python(options, script + loop).c_str(), "%31s %lf", version, &theirs) != 2)
    return absent("scikit-learn", recorded);
  return format("scikit-learn %s %.1f Mpts/s (%.0f x)", version, 5000 / theirs * 1e-6, theirs / seconds);
}

std::vector<std::string> why_left_out(const Options& options) {
  std::vector<std::string> reasons;
  if (!tomopy(options).why_not.empty()) reasons.push_back("TomoPy: " + tomopy(options).why_not);
  if (options.python.empty())
    reasons.push_back("scikit-learn: --no-peers");
  else if (ask_python(options, "import sklearn;print(1)").empty())
    reasons.push_back("scikit-learn: " + options.python + " can't import sklearn");
  return reasons;
}

}  // namespace bench_kernels
