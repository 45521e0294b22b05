#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "miniapps/formats/data_exchange.hpp"
#include "miniapps/formats/hdf5_handle.hpp"
#include "pilot/base/error.hpp"

namespace miniapps::formats {
namespace {

Dataset create_dataset(const Group& group, const char* name, hid_t type, const std::vector<hsize_t>& extent) {
  const Dataspace space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
  return Dataset(H5Dcreate2(group.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

Datatype text_type(std::string_view text) {
  Datatype type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), text.size());
  return type;
}

bool write_text_attribute(const Dataset& dataset, const char* name, std::string_view text) {
  const Datatype type = text_type(text);
  const Dataspace scalar(H5Screate(H5S_SCALAR));
  const Attribute attribute(
      H5Acreate2(dataset.get(), name, type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
  return attribute && H5Awrite(attribute.get(), type.get(), text.data()) >= 0;
}

bool write_number_attribute(const Dataset& dataset, const char* name, double value) {
  const Dataspace scalar(H5Screate(H5S_SCALAR));
  const Attribute attribute(
      H5Acreate2(dataset.get(), name, H5T_IEEE_F64LE, scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
  return attribute && H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, &value) >= 0;
}

bool write_implements(const File& file) {
  constexpr std::string_view text = "exchange";
  const Datatype type = text_type(text);
  const Dataspace scalar(H5Screate(H5S_SCALAR));
  const Dataset dataset(
      H5Dcreate2(file.get(), "implements", type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  return dataset && H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0;
}

// Row `slice` of every frame of `dataset`, values [frame][x].
bool write_rows(const Dataset& dataset, std::uint32_t slice, std::span<const std::uint16_t> values,
                std::uint32_t columns) {
  if (values.empty()) return true;
  const std::array<hsize_t, 3> start{0, slice, 0}, count{values.size() / columns, 1, columns};
  const Dataspace place(H5Dget_space(dataset.get()));
  const Dataspace memory(H5Screate_simple(3, count.data(), nullptr));
  return H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >=
             0 &&
         H5Dwrite(dataset.get(), H5T_NATIVE_UINT16, memory.get(), place.get(), H5P_DEFAULT, values.data()) >=
             0;
}

}  // namespace

struct DataExchangeWriter::Impl {
  std::string path, temporary;
  Content content;
  File file;
  Dataset data, flats, darks;

  ~Impl() {
    data.reset();
    flats.reset();
    darks.reset();
    file.reset();
    if (!temporary.empty()) unlink(temporary.c_str());
  }

  pilot::Error error() const { return hdf5_error(fmt::format("cannot write '{}'", path)); }
  bool create_datasets();
  bool write_theta(const Group& group) const;
};

bool DataExchangeWriter::Impl::write_theta(const Group& group) const {
  std::vector<double> degrees;
  for (const double angle : content.theta) degrees.push_back(angle * 180 / std::numbers::pi);
  const Dataset theta = create_dataset(group, "theta", H5T_IEEE_F64LE, {content.theta.size()});
  return theta && write_text_attribute(theta, "units", "degrees") &&
         H5Dwrite(theta.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, degrees.data()) >= 0;
}

bool DataExchangeWriter::Impl::create_datasets() {
  if (!write_implements(file)) return false;
  const Group group(H5Gcreate2(file.get(), "exchange", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (!group || !write_theta(group)) return false;
  const hsize_t rows = content.shape.slices, columns = content.shape.columns;
  data = create_dataset(group, "data", H5T_STD_U16LE, {content.shape.angles, rows, columns});
  if (!data) return false;
  if (!std::isnan(content.centre) && !write_number_attribute(data, "rotation_axis", content.centre))
    return false;
  if (content.flat_frames > 0) {
    flats = create_dataset(group, "data_white", H5T_STD_U16LE, {content.flat_frames, rows, columns});
    if (!flats) return false;
  }
  if (content.dark_frames > 0) {
    darks = create_dataset(group, "data_dark", H5T_STD_U16LE, {content.dark_frames, rows, columns});
    if (!darks) return false;
  }
  return true;
}

DataExchangeWriter::DataExchangeWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DataExchangeWriter::~DataExchangeWriter() = default;
DataExchangeWriter::DataExchangeWriter(DataExchangeWriter&&) noexcept = default;
DataExchangeWriter& DataExchangeWriter::operator=(DataExchangeWriter&&) noexcept = default;

pilot::Result<DataExchangeWriter> DataExchangeWriter::create(const std::filesystem::path& path,
                                                             const Content& content) {
  assert(content.theta.size() == content.shape.angles);
  silence_hdf5();
  auto impl = std::make_unique<Impl>();
  impl->path = path.string();
  impl->content = content;
  const std::string temporary = fmt::format("{}.{}.part", path.string(), getpid());
  impl->file = File(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  if (!impl->file) return impl->error();
  impl->temporary = temporary;
  if (!impl->create_datasets()) return impl->error();
  return DataExchangeWriter(std::move(impl));
}

pilot::Result<void> DataExchangeWriter::write_slice(std::uint32_t slice, std::span<const std::uint16_t> data,
                                                    std::span<const std::uint16_t> flats,
                                                    std::span<const std::uint16_t> darks) {
  silence_hdf5();
  const std::uint32_t columns = impl_->content.shape.columns;
  assert(slice < impl_->content.shape.slices);
  assert(data.size() == std::size_t{impl_->content.shape.angles} * columns);
  if (!write_rows(impl_->data, slice, data, columns) || !write_rows(impl_->flats, slice, flats, columns) ||
      !write_rows(impl_->darks, slice, darks, columns))
    return impl_->error();
  return pilot::ok();
}

pilot::Result<void> DataExchangeWriter::finish() {
  silence_hdf5();
  const bool closed =
      impl_->data.reset() && impl_->flats.reset() && impl_->darks.reset() && impl_->file.reset();
  if (!closed) return impl_->error();
  std::error_code code;
  std::filesystem::rename(impl_->temporary, impl_->path, code);
  if (code) return pilot::errno_error(fmt::format("cannot write '{}'", impl_->path), code.value());
  impl_->temporary.clear();
  return pilot::ok();
}

}  // namespace miniapps::formats
