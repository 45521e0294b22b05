// The file of one reconstructed scan: HDF5, laid out so that several processes write disjoint blocks of
// slices straight to their place in it, without HDF5 and without a second copy.
//
//     /reconstruction   f32 [slices][rows][columns]   contiguous; attenuation per detector bin
//     /slice_state      u8  [slices]                  contiguous; bit 0: the slice is there,
//                                                     bit 1: it is the first slice of the block it came in
//     attributes of /   run_id, scan_id, algorithm, filter, padding, centre, centre_source, angles,
//                       parameters, units, software
//
// Both datasets are allocated when the file is made, so their offsets are fixed; /reconstruction starts
// on a page.  Nothing else is ever changed after creation, and no time is recorded: the same scan with the
// same parameters gives the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "pilot/base/result.hpp"

namespace miniapps::formats {

inline constexpr std::uint8_t slice_present = 1;
inline constexpr std::uint8_t slice_begins_block = 2;

struct VolumeDescription {
  std::string run_id;  // 32 hexadecimal digits
  std::uint64_t scan_id = 0;
  std::uint64_t slices = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint32_t angles = 0;
  std::string algorithm;  // "gridrec"
  std::string filter;     // "shepp"
  double padding = 0;
  double centre = 0;          // in columns
  std::string centre_source;  // "message", "option", "found" or "middle"
  std::string parameters;     // all that the result depends on, in one line
  bool operator==(const VolumeDescription&) const = default;
};

struct VolumeLayout {
  VolumeDescription description;
  std::uint64_t data_offset = 0;   // of /reconstruction in the file
  std::uint64_t state_offset = 0;  // of /slice_state
};

// Makes a new file with all slices absent.  Errors: failed (exists already, no space, no permission).
pilot::Result<VolumeLayout> create_volume_file(const std::filesystem::path& path, const VolumeDescription&);

// Errors: not_found; failed when it is no such file.
pilot::Result<VolumeLayout> read_volume_layout(const std::filesystem::path& path);

}  // namespace miniapps::formats
