#include "tests/bench/kernels/bench_kernels.hpp"

int main(int argc, char** argv) {
  return bench_kernels_main(argc, argv);
}
