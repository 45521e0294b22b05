#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "miniapps/formats/data_exchange.hpp"
#include "miniapps/formats/hdf5_field.hpp"

namespace miniapps::formats {
namespace {

using pilot::ErrorCode;

constexpr std::uint32_t air_columns = 4;

pilot::Error meaningless(std::string message, std::string hint = {}) {
  return pilot::make_error(ErrorCode::usage, std::move(message), std::move(hint));
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<float> even_degrees(std::size_t count, double first, double last) {
  std::vector<float> theta(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double part = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0;
    theta[i] = static_cast<float>((first + (last - first) * part) * std::numbers::pi / 180);
  }
  return theta;
}

std::string place_of(const ScanShape& shape, std::uint32_t begin, std::size_t index) {
  const std::size_t column = index % shape.columns, row = index / shape.columns;
  return fmt::format("projection {}, slice {}, column {}", row % shape.angles, begin + row / shape.angles,
                     column);
}

}  // namespace

struct DataExchangeFile::Impl {
  std::string path;
  DataExchangeOptions options;
  File file;
  Field data;
  ScanShape shape;
  DataType dtype = DataType::f32;
  std::vector<float> theta;
  std::vector<float> flat, dark;  // [slices][columns], the means; flat empty: not in the file
  bool normalised = false;        // without flats: the data is transmission already
  double centre = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> notes;

  pilot::Result<void> open_file();
  pilot::Result<void> open_data();
  pilot::Result<void> read_theta();
  pilot::Result<AngleUnit> unit_of(const Field& field, const std::vector<double>& values);
  pilot::Result<void> read_fields();
  pilot::Result<std::vector<float>> mean_of(const std::string& name) const;
  pilot::Result<void> judge_data_without_flats();
  void read_centre();
  pilot::Result<void> check_finite(std::vector<std::byte>& values, std::uint32_t begin) const;
  void fill_flats(ScanBlock& block, std::uint32_t begin, std::uint32_t count) const;
};

pilot::Result<void> DataExchangeFile::Impl::open_file() {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return pilot::make_error(ErrorCode::not_found, fmt::format("there is no file '{}'", path));
  const PropertyList access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_file_locking(access.get(), false, true);  // locks fail on many shared file systems
  file = File(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (file) return pilot::ok();
  auto error = hdf5_error(fmt::format("cannot read '{}'", path));
  if (error.message.find("signature not found") != std::string::npos) error.hint = "it is not an HDF5 file";
  if (error.message.find("truncated") != std::string::npos)
    error.hint = "the file is not complete: was the copy interrupted?";
  return error;
}

pilot::Result<void> DataExchangeFile::Impl::open_data() {
  if (!exists(file, "exchange") || !exists(file, "exchange/data"))
    return meaningless(fmt::format("'{}' has no /exchange/data", path),
                       fmt::format("it is not a data exchange file; 'h5ls -r {}' shows what is in it", path));
  PILOT_TRY(data, open_field(file, "/exchange/data"));
  if (data.extent.size() != 3)
    return meaningless(fmt::format("/exchange/data is {}-dimensional ({}), it has to be [theta][y][x]",
                                   data.extent.size(), describe_extent(data.extent)),
                       "one sinogram is stored as [theta][1][x]");
  for (const hsize_t size : data.extent)
    if (size == 0 || size > std::numeric_limits<std::uint32_t>::max())
      return meaningless(fmt::format("/exchange/data has the size {}", describe_extent(data.extent)));
  shape = {static_cast<std::uint32_t>(data.extent[0]), static_cast<std::uint32_t>(data.extent[1]),
           static_cast<std::uint32_t>(data.extent[2])};
  const bool small = data.type_class == H5T_INTEGER && !data.is_signed && data.type_bytes <= 2;
  dtype = small ? DataType::u16 : DataType::f32;
  if (data.type_class == H5T_INTEGER && data.type_bytes > 2)
    notes.push_back(fmt::format("/exchange/data has {}-bit integers: sent as f32, exact up to 16777216",
                                8 * data.type_bytes));
  return pilot::ok();
}

pilot::Result<AngleUnit> DataExchangeFile::Impl::unit_of(const Field& field,
                                                         const std::vector<double>& values) {
  if (options.theta_unit) return *options.theta_unit;
  const auto units = read_text_attribute(field.dataset, "units");
  const std::string word = lower(units.value_or(""));
  if (word.starts_with("deg") || word == "°") return AngleUnit::degrees;
  if (word.starts_with("rad")) return AngleUnit::radians;
  if (!word.empty())
    return meaningless(fmt::format("/exchange/theta has units '{}'", *units),
                       "say which with --theta-units degrees|radians");
  const double largest =
      std::abs(*std::ranges::max_element(values, {}, [](double v) { return std::abs(v); }));
  const bool degrees = largest > 2 * std::numbers::pi;
  notes.push_back(
      fmt::format("/exchange/theta has no units: taken for {}, since its largest value is {:.6g} "
                  "(--theta-units says otherwise)",
                  degrees ? "degrees" : "radians", largest));
  return degrees ? AngleUnit::degrees : AngleUnit::radians;
}

pilot::Result<void> DataExchangeFile::Impl::read_theta() {
  if (options.theta_range) {
    theta = even_degrees(shape.angles, (*options.theta_range)[0], (*options.theta_range)[1]);
    return pilot::ok();
  }
  if (!exists(file, "exchange/theta")) {
    theta = even_degrees(shape.angles, 0, 180);
    notes.push_back(
        fmt::format("'{}' has no /exchange/theta: taking {} angles from 0 to 180 degrees, both "
                    "included, as TomoPy does (--theta FIRST:LAST says otherwise)",
                    path, shape.angles));
    return pilot::ok();
  }
  PILOT_TRY(const Field field, open_field(file, "/exchange/theta"));
  const auto count = H5Sget_simple_extent_npoints(field.space.get());
  if (count != shape.angles)
    return meaningless(
        fmt::format("/exchange/theta has {} values, /exchange/data {} projections", count, shape.angles),
        "give the angles with --theta FIRST:LAST");
  std::vector<double> values(shape.angles);
  if (H5Dread(field.dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    return hdf5_error("cannot read /exchange/theta");
  const auto bad = std::ranges::find_if_not(values, [](double v) { return std::isfinite(v); });
  if (bad != values.end())
    return meaningless(fmt::format("/exchange/theta is {} at projection {}", *bad, bad - values.begin()),
                       "give the angles with --theta FIRST:LAST");
  PILOT_TRY(const AngleUnit unit, unit_of(field, values));
  const double factor = unit == AngleUnit::degrees ? std::numbers::pi / 180 : 1;
  for (const double value : values) theta.push_back(static_cast<float>(value * factor));
  if (shape.angles > 1 && std::ranges::all_of(values, [&](double v) { return v == values.front(); }))
    notes.push_back(fmt::format("/exchange/theta is {} for all projections", values.front()));
  return pilot::ok();
}

// The mean over frames of flats or darks, [slices][columns].  A value that is not finite is left out.
pilot::Result<std::vector<float>> DataExchangeFile::Impl::mean_of(const std::string& name) const {
  PILOT_TRY(const Field field, open_field(file, name));
  const auto frames = frames_of(field, shape.slices, shape.columns);
  if (!frames)
    return meaningless(fmt::format("{} is {}, but the projections are {} x {}", name,
                                   describe_extent(field.extent), shape.slices, shape.columns),
                       "flats and darks have to be [frame][y][x] of the same detector area");
  std::vector<float> frame(std::size_t{shape.slices} * shape.columns);
  std::vector<double> sum(frame.size(), 0);
  std::vector<std::uint32_t> used(frame.size(), 0);
  for (hsize_t number = 0; number < *frames; ++number) {
    PILOT_TRY_VOID(read_frame(field, number, frame));
    for (std::size_t i = 0; i < frame.size(); ++i) {
      if (!std::isfinite(frame[i])) continue;
      sum[i] += static_cast<double>(frame[i]);
      ++used[i];
    }
  }
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (used[i] == 0)
      return meaningless(fmt::format("{} has no finite value at slice {}, column {}", name, i / shape.columns,
                                     i % shape.columns));
    frame[i] = static_cast<float>(sum[i] / used[i]);
  }
  return frame;
}

pilot::Result<void> DataExchangeFile::Impl::read_fields() {
  const std::size_t pixels = std::size_t{shape.slices} * shape.columns;
  if (exists(file, "exchange/data_dark")) {
    PILOT_TRY(dark, mean_of("/exchange/data_dark"));
  } else {
    dark.assign(pixels, 0);
  }
  if (!exists(file, "exchange/data_white")) return judge_data_without_flats();
  PILOT_TRY(flat, mean_of("/exchange/data_white"));
  if (!exists(file, "exchange/data_dark"))
    notes.push_back(fmt::format("'{}' has no /exchange/data_dark: taken for zero", path));
  return pilot::ok();
}

pilot::Result<void> DataExchangeFile::Impl::judge_data_without_flats() {
  std::vector<float> first(std::size_t{shape.slices} * shape.columns);
  PILOT_TRY_VOID(read_frame(data, 0, first));
  float largest = 0;
  for (const float value : first)
    if (std::isfinite(value)) largest = std::max(largest, value);
  normalised = data.type_class == H5T_FLOAT && largest < 2;
  notes.push_back(
      normalised ? fmt::format("'{}' has no /exchange/data_white: its values (up to {:.3g} in the first "
                               "projection) are taken for normalised transmission",
                               path, largest)
                 : fmt::format("'{}' has no /exchange/data_white: each slice's flat field is the mean of "
                               "its {} outermost columns on both sides, which should be air",
                               path, air_columns));
  return pilot::ok();
}

void DataExchangeFile::Impl::read_centre() {
  if (H5Aexists(data.dataset.get(), "rotation_axis") <= 0) return;
  const Attribute attribute(H5Aopen(data.dataset.get(), "rotation_axis", H5P_DEFAULT));
  const Dataspace space(H5Aget_space(attribute.get()));
  double value = 0;
  if (H5Sget_simple_extent_npoints(space.get()) == 1 &&
      H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) >= 0)
    centre = value;
}

pilot::Result<void> DataExchangeFile::Impl::check_finite(std::vector<std::byte>& values,
                                                         std::uint32_t begin) const {
  if (data.type_class != H5T_FLOAT) return pilot::ok();
  const std::span floats(reinterpret_cast<float*>(values.data()), values.size() / sizeof(float));
  std::size_t bad = 0, first = 0;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    if (std::isfinite(floats[i])) continue;
    if (bad++ == 0) first = i;
    if (options.replace_not_finite) floats[i] = *options.replace_not_finite;
  }
  if (bad == 0 || options.replace_not_finite) return pilot::ok();
  return meaningless(
      fmt::format("/exchange/data has {} values that are not finite (NaN or infinite) in slices "
                  "{} to {}, the first at {}",
                  bad, begin, begin + floats.size() / shape.columns / shape.angles - 1,
                  place_of(shape, begin, first)),
      "--replace-nan VALUE sends VALUE in their place");
}

void DataExchangeFile::Impl::fill_flats(ScanBlock& block, std::uint32_t begin, std::uint32_t count) const {
  const std::size_t row = shape.columns;
  const auto part = [&](const std::vector<float>& all) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin * row);
    return std::vector<float>(first, first + static_cast<std::ptrdiff_t>(count * row));
  };
  block.dark = part(dark);
  if (!flat.empty()) {
    block.flat = part(flat);
    return;
  }
  const auto value = [&](std::size_t index) {
    if (dtype == DataType::f32)
      return static_cast<double>(reinterpret_cast<const float*>(block.data.data())[index]);
    return static_cast<double>(reinterpret_cast<const std::uint16_t*>(block.data.data())[index]);
  };
  const std::size_t air = std::min<std::size_t>(air_columns, row);
  for (std::size_t slice = 0; slice < count; ++slice) {
    double sum = 0;
    for (std::size_t angle = 0; angle < shape.angles; ++angle)
      for (std::size_t i = 0; i < air; ++i) {
        const std::size_t start = (slice * shape.angles + angle) * row;
        sum += value(start + i) + value(start + row - 1 - i);
      }
    const auto mean = static_cast<float>(sum / (2.0 * static_cast<double>(air * shape.angles)));
    block.flat.insert(block.flat.end(), row, mean);
  }
}

DataExchangeFile::DataExchangeFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DataExchangeFile::~DataExchangeFile() = default;
DataExchangeFile::DataExchangeFile(DataExchangeFile&&) noexcept = default;
DataExchangeFile& DataExchangeFile::operator=(DataExchangeFile&&) noexcept = default;

const ScanShape& DataExchangeFile::shape() const {
  return impl_->shape;
}
DataType DataExchangeFile::dtype() const {
  return impl_->dtype;
}
bool DataExchangeFile::has_flats() const {
  return !impl_->normalised;
}
const std::vector<float>& DataExchangeFile::theta() const {
  return impl_->theta;
}
double DataExchangeFile::centre() const {
  return impl_->centre;
}
const std::vector<std::string>& DataExchangeFile::notes() const {
  return impl_->notes;
}

pilot::Result<DataExchangeFile> DataExchangeFile::open(const std::filesystem::path& path,
                                                       const DataExchangeOptions& options) {
  silence_hdf5();
  auto impl = std::make_unique<Impl>();
  impl->path = path.string();
  impl->options = options;
  PILOT_TRY_VOID(impl->open_file());
  PILOT_TRY_VOID(impl->open_data());
  PILOT_TRY_VOID(impl->read_theta());
  PILOT_TRY_VOID(impl->read_fields());
  impl->read_centre();
  return DataExchangeFile(std::move(impl));
}

pilot::Result<ScanBlock> DataExchangeFile::read(std::uint32_t begin, std::uint32_t count) const {
  silence_hdf5();
  const ScanShape& shape = impl_->shape;
  const std::size_t row_bytes = shape.columns * size_of(impl_->dtype);
  std::vector<std::byte> projections(std::size_t{shape.angles} * count * row_bytes);
  const hid_t type = impl_->dtype == DataType::u16 ? H5T_NATIVE_UINT16 : H5T_NATIVE_FLOAT;
  PILOT_TRY_VOID(read_rows(impl_->data, begin, count, type, projections.data()));

  ScanBlock block;
  block.data.resize(projections.size());
  for (std::size_t angle = 0; angle < shape.angles; ++angle)
    for (std::size_t slice = 0; slice < count; ++slice)
      std::memcpy(block.data.data() + (slice * shape.angles + angle) * row_bytes,
                  projections.data() + (angle * count + slice) * row_bytes, row_bytes);
  PILOT_TRY_VOID(impl_->check_finite(block.data, begin));
  if (has_flats()) impl_->fill_flats(block, begin, count);
  return block;
}

}  // namespace miniapps::formats
