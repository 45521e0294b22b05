#include "miniapps/formats/hdf5_handle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace miniapps::formats {
namespace {

herr_t take_first(unsigned number, const H5E_error2_t* entry, void* out) {
  if (number == 0 && entry->desc != nullptr) *static_cast<std::string*>(out) = entry->desc;
  return 0;
}

}  // namespace

void silence_hdf5() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  return reason.empty() ? "HDF5 gives no reason" : reason;
}

pilot::Error hdf5_error(std::string_view what) {
  return pilot::make_error(pilot::ErrorCode::failed, fmt::format("{}: {}", what, hdf5_reason()));
}

std::vector<hsize_t> extent_of(const Dataspace& space) {
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> extent(rank > 0 ? static_cast<std::size_t>(rank) : 0);
  if (!extent.empty()) H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  return extent;
}

std::string describe_extent(const std::vector<hsize_t>& extent) {
  return extent.empty() ? "one value" : fmt::format("{}", fmt::join(extent, " x "));
}

}  // namespace miniapps::formats
