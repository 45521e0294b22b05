// Datasets of numbers in a scan's file: what they are, and reading parts of them.  Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "miniapps/formats/hdf5_handle.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::formats {

struct Field {
  std::string name;  // "/exchange/data_white"
  Dataset dataset;
  Dataspace space;
  std::vector<hsize_t> extent;
  H5T_class_t type_class = H5T_NO_CLASS;  // H5T_INTEGER or H5T_FLOAT
  std::size_t type_bytes = 0;
  bool is_signed = false;
};

// Is there a link `name` in the file ("exchange/data", no leading slash; the groups must exist)?
bool exists(const File& file, const char* name);

// Errors: failed with HDF5's reason; usage when it holds no numbers.
pilot::Result<Field> open_field(const File& file, const std::string& name);

// How many frames of rows x columns the field holds: [frame][y][x], one [y][x], or frames of one row
// [frame][x].  Nothing when its extent is none of these.
std::optional<hsize_t> frames_of(const Field& field, std::uint32_t rows, std::uint32_t columns);

// One frame of such a field as f32, out [rows][columns].
pilot::Result<void> read_frame(const Field& field, hsize_t number, std::span<float> out);

// Rows [begin, begin + count) of all frames of a 3-D field, out [frame][count][x] of `memory_type`.
pilot::Result<void> read_rows(const Field& field, std::uint32_t begin, std::uint32_t count, hid_t memory_type,
                              void* out);

// A text attribute of fixed or variable length; empty when it is no text, nothing when it is missing.
std::optional<std::string> read_text_attribute(const Dataset& dataset, const char* name);

}  // namespace miniapps::formats
