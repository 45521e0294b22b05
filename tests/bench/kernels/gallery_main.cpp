#include "tests/bench/kernels/gallery.hpp"

int main(int argc, char** argv) {
  return gallery_main(argc, argv);
}
