// One scan's volume on disk: blocks are written to their place, then marked.  A block that is written
// again has the same bytes, so a repeat after a crash changes nothing.
//
// Threads: write() and has() from any thread, mark() from one at a time.  Processes: any number may have
// the same volume open; mark() takes a lock that the kernel releases when its holder dies.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "miniapps/formats/volume_file.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::processors {

struct SliceRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  bool operator==(const SliceRange&) const = default;
};

// Called after each step that changes the disk, with the step's name; tests end the process there.
using StepHook = std::function<void(std::string_view step)>;

class Volume {
 public:
  // Errors: not_found; failed (not a volume, no permission).
  static pilot::Result<std::shared_ptr<Volume>> open(const std::filesystem::path& path, StepHook hook = {});
  ~Volume();
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  const formats::VolumeDescription& description() const { return layout_.description; }

  // All of these slices are there and marked.  Errors: failed.
  pilot::Result<bool> has(SliceRange range) const;

  // values [count][rows][columns].  Goes to the disk without a copy where values, slices and file system are
  // aligned for it (result_buffer.hpp).  Not safe before sync().  Errors: failed (disk full ...).
  pilot::Result<void> write(SliceRange range, std::span<const float> values);

  // Takes the space of the whole volume, so that a full disk shows now.  Errors: failed.
  pilot::Result<void> reserve();

  pilot::Result<void> sync();

  // Whether the file has this name now.
  bool is_at(const std::filesystem::path& path) const;

  struct Marked {
    std::vector<bool> was_new;  // per range: some of its slices were not there before
    bool complete = false;      // all slices of the volume are there
  };
  // Marks ranges that are written and synced, and syncs the marks.  When the volume is complete then,
  // calls `finish` before other processes may mark.  Errors: failed.
  pilot::Result<Marked> mark(std::span<const SliceRange> ranges,
                             const std::function<pilot::Result<void>()>& finish);

  // The marks [slices], see formats/volume_file.hpp.
  pilot::Result<std::vector<std::uint8_t>> state() const;

  // One slice [rows][columns].
  pilot::Result<std::vector<float>> read_slice(std::uint32_t slice) const;

 private:
  bool write_direct(const void* from, std::size_t size, std::uint64_t offset);
  Volume(int fd, int direct_fd, formats::VolumeLayout layout, std::filesystem::path path, StepHook hook);
  pilot::Error failure(std::string_view doing, int saved_errno) const;
  void step(std::string_view name) const {
    if (hook_) hook_(name);
  }

  int fd_;
  int direct_fd_;  // -1: the file system has no direct writing
  std::atomic<bool> direct_works_{true};
  formats::VolumeLayout layout_;
  std::filesystem::path path_;
  StepHook hook_;
};

}  // namespace miniapps::processors
