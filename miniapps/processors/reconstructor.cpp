#include "miniapps/processors/reconstructor.hpp"

#include <algorithm>

namespace miniapps::processors {

bool may_share_a_call(const formats::FrameView& a, const formats::FrameView& b) {
  return a.header.columns == b.header.columns && a.header.angles == b.header.angles &&
         std::equal(a.theta.begin(), a.theta.end(), b.theta.begin(), b.theta.end());
}

}  // namespace miniapps::processors
