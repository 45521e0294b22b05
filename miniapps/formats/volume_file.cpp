#include "miniapps/formats/volume_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cassert>

namespace miniapps::formats {

namespace {

using pilot::ErrorCode;
using pilot::Result;

constexpr auto software = "pilot miniapp process";
constexpr hsize_t page = 4096;

// A handle of HDF5 and the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

herr_t keep_innermost(unsigned depth, const H5E_error2_t* entry, void* text) {
  if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

// What HDF5 says about its last failure on this thread.
std::string reason() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "HDF5 gave no reason" : text;
}

// HDF5 prints its error stack by default; here the reason goes into the Error.
struct QuietErrors {
  QuietErrors() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }
};

bool write_text(hid_t object, const char* name, const std::string& text) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type, text.empty() ? 1 : text.size()) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)
    return false;
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, type, text.c_str()) >= 0;
}

template <typename T>
bool write_number(hid_t object, const char* name, hid_t stored, hid_t memory, T value) {
  Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle attribute(H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, memory, &value) >= 0;
}

bool read_text(hid_t object, const char* name, std::string& text) {
  Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return false;
  Handle type(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) return false;
  text.assign(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return false;
  text.erase(text.find_last_not_of('\0') + 1);
  return true;
}

template <typename T>
bool read_number(hid_t object, const char* name, hid_t memory, T& value) {
  Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Aread(attribute, memory, &value) >= 0;
}

bool write_attributes(hid_t file, const VolumeDescription& d) {
  return write_text(file, "run_id", d.run_id) &&
         write_number(file, "scan_id", H5T_STD_U64LE, H5T_NATIVE_UINT64, d.scan_id) &&
         write_number(file, "angles", H5T_STD_U32LE, H5T_NATIVE_UINT32, d.angles) &&
         write_text(file, "algorithm", d.algorithm) && write_text(file, "filter", d.filter) &&
         write_number(file, "padding", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, d.padding) &&
         write_number(file, "centre", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, d.centre) &&
         write_text(file, "centre_source", d.centre_source) && write_text(file, "parameters", d.parameters) &&
         write_text(file, "units", "1/bin") && write_text(file, "software", software);
}

// Contiguous and allocated at once; what is not written yet reads as zeros.  No times are kept.
Result<std::uint64_t> make_dataset(hid_t file, const char* name, hid_t type, int rank, const hsize_t* shape) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(properties, H5D_CONTIGUOUS);
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(properties, 0);
  Handle space(H5Screate_simple(rank, shape, nullptr), H5Sclose);
  Handle dataset(H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return pilot::make_error(ErrorCode::failed, reason());
  const auto offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) return pilot::make_error(ErrorCode::internal, "a dataset without an offset");
  return offset;
}

hid_t file_access() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  // Others write blocks with plain system calls while we read the layout: HDF5's own lock is in the way.
  H5Pset_file_locking(access, 0, 1);
  H5Pset_alignment(access, page, page);
  return access;
}

}  // namespace

Result<VolumeLayout> create_volume_file(const std::filesystem::path& path, const VolumeDescription& d) {
  assert(d.slices > 0 && d.rows > 0 && d.columns > 0);
  QuietErrors quiet;
  const auto refused = [&path](const std::string& why) {
    return pilot::make_error(ErrorCode::failed, fmt::format("cannot make '{}': {}", path.string(), why));
  };
  Handle access(file_access(), H5Pclose);
  Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, 0);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, creation, access), H5Fclose);
  if (!file.valid()) return refused(reason());
  if (!write_attributes(file, d)) return refused(reason());
  VolumeLayout layout{d, 0, 0};
  const hsize_t shape[] = {d.slices, d.rows, d.columns};
  auto state = make_dataset(file, "slice_state", H5T_STD_U8LE, 1, shape);
  if (!state) return refused(state.error().message);
  auto data = make_dataset(file, "reconstruction", H5T_IEEE_F32LE, 3, shape);
  if (!data) return refused(data.error().message);
  {
    Handle dataset(H5Dopen2(file, "reconstruction", H5P_DEFAULT), H5Dclose);
    if (!write_text(dataset, "units", "1/bin") || !write_text(dataset, "axes", "slice:row:column"))
      return refused(reason());
  }
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return refused(reason());
  layout.state_offset = state.value();
  layout.data_offset = data.value();
  return layout;
}

Result<VolumeLayout> read_volume_layout(const std::filesystem::path& path) {
  QuietErrors quiet;
  const auto refused = [&path](const std::string& why) {
    return pilot::make_error(ErrorCode::failed,
                             fmt::format("'{}' is not a volume of this program: {}", path.string(), why));
  };
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return pilot::make_error(ErrorCode::not_found, fmt::format("there is no '{}'", path.string()));
  Handle access(file_access(), H5Pclose);
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (!file.valid()) return refused(reason());
  VolumeLayout layout;
  auto& d = layout.description;
  if (!read_text(file, "run_id", d.run_id) || !read_number(file, "scan_id", H5T_NATIVE_UINT64, d.scan_id) ||
      !read_number(file, "angles", H5T_NATIVE_UINT32, d.angles) ||
      !read_text(file, "algorithm", d.algorithm) || !read_text(file, "filter", d.filter) ||
      !read_number(file, "padding", H5T_NATIVE_DOUBLE, d.padding) ||
      !read_number(file, "centre", H5T_NATIVE_DOUBLE, d.centre) ||
      !read_text(file, "centre_source", d.centre_source) || !read_text(file, "parameters", d.parameters))
    return refused("an attribute is missing");
  Handle state(H5Dopen2(file, "slice_state", H5P_DEFAULT), H5Dclose);
  Handle data(H5Dopen2(file, "reconstruction", H5P_DEFAULT), H5Dclose);
  if (!state.valid() || !data.valid()) return refused(reason());
  Handle space(H5Dget_space(data), H5Sclose);
  hsize_t shape[3] = {};
  if (H5Sget_simple_extent_ndims(space) != 3 || H5Sget_simple_extent_dims(space, shape, nullptr) != 3 ||
      H5Dget_storage_size(data) != shape[0] * shape[1] * shape[2] * sizeof(float) ||
      H5Dget_storage_size(state) != shape[0])
    return refused("its datasets have another shape");
  d.slices = shape[0], d.rows = shape[1], d.columns = shape[2];
  layout.state_offset = H5Dget_offset(state);
  layout.data_offset = H5Dget_offset(data);
  if (layout.state_offset == HADDR_UNDEF || layout.data_offset == HADDR_UNDEF)
    return refused("its datasets are not contiguous");
  return layout;
}

}  // namespace miniapps::formats
