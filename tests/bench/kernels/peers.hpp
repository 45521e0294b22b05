// The same work by others, if they are there.  Each returns what the table says about it: time and how many
// times faster ours (`seconds` per unit) is, or why there is no comparison.
#pragma once

#include <string>

#include "tests/bench/kernels/cases.hpp"
#include "tests/bench/kernels/measurements.hpp"

namespace bench_kernels {

// TomoPy's libtomo, loaded from options.tomopy_library.  padded: with zeros to twice the columns.
std::string tomopy_gridrec(const Options& options, const Scan& scan, bool padded, double seconds);
std::string tomopy_mlem(const Options& options, const Scan& scan, double seconds);
// scikit-learn's MiniBatchKMeans.partial_fit, batches of 5000 float points, one thread, by options.python.
std::string sklearn_kmeans(const Options& options, int k, int d, double seconds);

}  // namespace bench_kernels
