#include "miniapps/formats/hdf5_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace miniapps::formats {
namespace {

using Extent = std::vector<hsize_t>;

pilot::Result<void> read_part(const Field& field, const Extent& start, const Extent& count, hid_t memory_type,
                              void* out) {
  const int rank = static_cast<int>(count.size());
  const Dataspace memory(H5Screate_simple(rank, count.data(), nullptr));
  const Dataspace place(H5Scopy(field.space.get()));
  if (H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dread(field.dataset.get(), memory_type, memory.get(), place.get(), H5P_DEFAULT, out) < 0)
    return hdf5_error(fmt::format("cannot read {}", field.name));
  return pilot::ok();
}

std::string without_padding(std::string text) {
  text.resize(std::min(text.find('\0'), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

bool exists(const File& file, const char* name) {
  return H5Lexists(file.get(), name, H5P_DEFAULT) > 0;
}

pilot::Result<Field> open_field(const File& file, const std::string& name) {
  Field field;
  field.name = name;
  field.dataset = Dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
  if (!field.dataset) return hdf5_error(fmt::format("cannot open {}", name));
  field.space = Dataspace(H5Dget_space(field.dataset.get()));
  field.extent = extent_of(field.space);
  const Datatype type(H5Dget_type(field.dataset.get()));
  field.type_class = H5Tget_class(type.get());
  field.type_bytes = H5Tget_size(type.get());
  field.is_signed = field.type_class == H5T_FLOAT || H5Tget_sign(type.get()) == H5T_SGN_2;
  if (field.type_class != H5T_INTEGER && field.type_class != H5T_FLOAT)
    return pilot::make_error(pilot::ErrorCode::usage,
                             fmt::format("{} holds no numbers, but another type of data", name));
  return field;
}

std::optional<hsize_t> frames_of(const Field& field, std::uint32_t rows, std::uint32_t columns) {
  const Extent& extent = field.extent;
  if (extent.size() == 3 && extent[0] > 0 && extent[1] == rows && extent[2] == columns) return extent[0];
  if (extent.size() != 2 || extent[1] != columns) return std::nullopt;
  if (extent[0] == rows) return 1;  // one [y][x]: its rows are never averaged
  if (rows == 1 && extent[0] > 0) return extent[0];
  return std::nullopt;
}

pilot::Result<void> read_frame(const Field& field, hsize_t number, std::span<float> out) {
  const Extent& extent = field.extent;
  const hsize_t columns = extent.back(), rows = out.size() / columns;
  assert(out.size() == rows * columns);
  if (extent.size() == 3)
    return read_part(field, {number, 0, 0}, {1, rows, columns}, H5T_NATIVE_FLOAT, out.data());
  return read_part(field, {number * rows, 0}, {rows, columns}, H5T_NATIVE_FLOAT, out.data());
}

pilot::Result<void> read_rows(const Field& field, std::uint32_t begin, std::uint32_t count, hid_t memory_type,
                              void* out) {
  return read_part(field, {0, begin, 0}, {field.extent[0], count, field.extent[2]}, memory_type, out);
}

std::optional<std::string> read_text_attribute(const Dataset& dataset, const char* name) {
  if (H5Aexists(dataset.get(), name) <= 0) return std::nullopt;
  const Attribute attribute(H5Aopen(dataset.get(), name, H5P_DEFAULT));
  const Datatype type(H5Aget_type(attribute.get()));
  const Dataspace space(H5Aget_space(attribute.get()));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) return "";
  if (H5Tis_variable_str(type.get()) <= 0) {
    std::string text(H5Tget_size(type.get()), '\0');
    return H5Aread(attribute.get(), type.get(), text.data()) < 0 ? "" : without_padding(std::move(text));
  }
  const Datatype memory(H5Tcopy(H5T_C_S1));
  H5Tset_size(memory.get(), H5T_VARIABLE);
  H5Tset_cset(memory.get(), H5Tget_cset(type.get()));
  char* text = nullptr;
  if (H5Aread(attribute.get(), memory.get(), &text) < 0 || text == nullptr) return "";
  std::string value = without_padding(text);
  H5free_memory(text);
  return value;
}

}  // namespace miniapps::formats
