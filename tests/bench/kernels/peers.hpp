// The same work by others, if they are there.  Each returns what the table says about it: time and how many
// times faster ours (`seconds` per unit) is, or what was `recorded` on the machine on which the goals were
// set.  why_left_out() tells afterwards why peers are missing.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/kernels/cases.hpp"
#include "tests/bench/kernels/measurements.hpp"

namespace bench_kernels {

// TomoPy's gridrec and osem, as its Python package calls them, one thread.  padded: with zeros to twice the
// columns.  ML-EM: one iteration.
std::string tomopy_gridrec(const Options& options, const Scan& scan, bool padded, double seconds,
                           const char* recorded);
std::string tomopy_mlem(const Options& options, const Scan& scan, double seconds, const char* recorded);
// TomoPy's picture after some iterations of ML-EM; empty if it is not here.
std::vector<float> tomopy_mlem_image(const Options& options, const Scan& scan, int iterations);
// scikit-learn's MiniBatchKMeans.partial_fit, batches of 5000 float points, one thread.
std::string sklearn_kmeans(const Options& options, int k, int d, double seconds, const char* recorded);

// One sentence per peer.
std::vector<std::string> why_left_out(const Options& options);

}  // namespace bench_kernels
