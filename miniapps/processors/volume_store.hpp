// The output folder: which file a block belongs to, and what happens when a scan is complete.
//
//     OUT/.blocks/<run id>-<scan id>.h5          a volume in the making
//     OUT/scan-<run id, 8 digits>-<scan id>.h5   a complete one: the same file, renamed
//     OUT/scan-...-slice-<n>.png                 its picture, there before the renamed volume is
//
// Any number of processors may share the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "miniapps/processors/volume.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::processors {

// Which slice of a scan is drawn: "middle", "first", "last", "none" or a number.
struct PictureChoice {
  enum class Kind { middle, first, last, none, number };
  Kind kind = Kind::middle;
  std::uint32_t number = 0;

  // The slice of a volume of `slices`; a number beyond the end means the last.
  std::optional<std::uint32_t> slice(std::uint64_t slices) const;
};
// Errors: usage.
pilot::Result<PictureChoice> parse_picture_choice(const std::string& text);

class VolumeStore {
 public:
  struct Options {
    std::filesystem::path folder;
    PictureChoice picture;
    std::uint64_t max_volume_bytes = std::uint64_t{256} << 30;  // larger scans are refused
    StepHook hook;                                              // for tests
  };
  // Makes the folder.  Errors: failed (can't be made or written).
  static pilot::Result<std::unique_ptr<VolumeStore>> open(Options options);

  // Where a block goes; or why it can't be part of the output, which is the block's fault.
  struct Place {
    std::shared_ptr<Volume> volume;
    std::string refusal;
  };
  // Why such a block can't be part of the output; empty when it can.
  std::string refusal(const formats::VolumeDescription& wanted, SliceRange block) const;
  // The volume of a scan; nullptr when there is none.  Thread-safe.  Errors: failed (disk).
  pilot::Result<std::shared_ptr<Volume>> find(const formats::VolumeDescription& wanted);
  // The volume of a scan, made when there is none.  Thread-safe.  Errors: failed (disk); usage when the
  // folder has this scan with other parameters.
  pilot::Result<Place> place(const formats::VolumeDescription& wanted, SliceRange block);

  // Makes written blocks of one volume permanent; finishes the scan when it is complete.
  pilot::Result<Volume::Marked> commit(Volume& volume, std::span<const SliceRange> blocks);

  std::filesystem::path partial_path(const formats::VolumeDescription& d) const;
  std::filesystem::path final_path(const formats::VolumeDescription& d) const;
  std::filesystem::path picture_path(const formats::VolumeDescription& d, std::uint32_t slice) const;

 private:
  explicit VolumeStore(Options options) : options_(std::move(options)) {}
  pilot::Result<std::shared_ptr<Volume>> find_unlocked(const formats::VolumeDescription& wanted);
  pilot::Result<std::shared_ptr<Volume>> find_or_make(const formats::VolumeDescription& wanted);
  pilot::Result<void> make(const formats::VolumeDescription& wanted);
  pilot::Result<void> finish(Volume& volume);
  void step(std::string_view name) const {
    if (options_.hook) options_.hook(name);
  }

  Options options_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Volume>> open_;  // most recently used first
};

}  // namespace miniapps::processors
