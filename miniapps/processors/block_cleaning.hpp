// From the raw data of a block to its line integrals: what stands between detector and reconstruction, by
// miniapps/kernels.
#pragma once

#include <optional>
#include <vector>

#include "miniapps/formats/frame.hpp"
#include "miniapps/processors/reconstructor.hpp"

namespace miniapps::processors {

struct CleaningParameters {
  std::optional<float> zingers;  // stray photons: counts above the median of the neighbours
  std::optional<int> rings;      // window in columns, odd: wider than twice the widest stripe
};

// Errors: usage (a number out of its range).
pilot::Result<void> check(const CleaningParameters& parameters);

// Of one thread; keeps its memory.
class BlockCleaner {
 public:
  explicit BlockCleaner(const CleaningParameters& parameters) : parameters_(parameters) {}

  // -> sino [slice_count][angles][columns]: stray photons out, flat and dark, minus-log, stripes out.
  // Errors: usage, failed.
  pilot::Result<void> line_integrals(const formats::FrameView& block, float* sino);

 private:
  template <typename T>
  pilot::Result<void> line_integrals_of(const formats::FrameView& block, float* sino);
  const CleaningParameters parameters_;
  std::vector<float> flat_, dark_;
  std::vector<std::byte> raw_;
};

// Where line integrals [slices][angles][columns] say that the axis is, and again each half of them: every
// other slice, or every other angle of a single slice.  Errors: failed (out of memory).
pilot::Result<CentreAnswer> find_block_centre(const float* sino, const std::vector<double>& theta,
                                              std::int32_t slices, std::int32_t columns);

// What the kernels say, as an error: usage when the block is to blame.
pilot::Error kernel_error(std::int32_t code, const char* message);

}  // namespace miniapps::processors
