// The compute part of a processor: a block of raw data in, slices out.  The engine knows no more of an
// algorithm than this.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>

#include "miniapps/formats/frame.hpp"
#include "miniapps/formats/volume_file.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::processors {

// Where a block's data say that the rotation axis is.
struct CentreAnswer {
  double centre = std::numeric_limits<double>::quiet_NaN();  // in columns; NaN: they don't say
  double doubt = std::numeric_limits<double>::infinity();    // how far the answers of its halves are apart
  // Noise finds an axis too, but not the same one twice.
  bool sure() const { return doubt <= 2; }
};

// One thread's compute, with its own scratch memory.
class Reconstructor {
 public:
  virtual ~Reconstructor() = default;

  // The rotation axis, found in the data of the block.  Errors: usage, failed.
  virtual pilot::Result<CentreAnswer> find_centre(const formats::FrameView& block) = 0;

  // Blocks of one geometry (may_share_a_call), each with its rotation axis in columns -> out, their slices
  // one after another, [sum of slice_count] [rows][columns].  Same block and parameters, same bits, whatever
  // company it has: that is what makes a repeat after a crash harmless.  Errors: usage (such blocks can't be
  // reconstructed), failed (out of memory ...).
  virtual pilot::Result<void> run(std::span<const formats::FrameView> blocks, std::span<const double> centres,
                                  std::span<float> out) = 0;
};

// Can these two be reconstructed in one call?  Vector units like several slices at a time.
bool may_share_a_call(const formats::FrameView& a, const formats::FrameView& b);

// An algorithm with its parameters; shared by threads.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // The volume of the scan that a block belongs to.  A centre of NaN has to be found in the data.
  virtual formats::VolumeDescription volume_of(const formats::FrameHeader& header) const = 0;

  virtual std::unique_ptr<Reconstructor> make_reconstructor() = 0;

  // Slices with which a call is most efficient; more blocks are put together up to about this many.
  virtual std::uint32_t slices_per_call() const = 0;

  // All that the result depends on besides the data, in one line.
  virtual std::string parameters() const = 0;
};

}  // namespace miniapps::processors
