// HDF5 "data exchange" files of tomography scans (De Carlo et al., J. Synchrotron Rad. 21, 2014, 1224):
//
//     /exchange/data        [theta][y][x]   raw counts; any numeric type
//     /exchange/data_white  [frame][y][x]   flat fields, or one [y][x]
//     /exchange/data_dark   [frame][y][x]   dark fields, or one [y][x]
//     /exchange/theta       [theta]         attribute "units": degrees or radians
//
// Ours, optional: attribute "rotation_axis" (f64, in columns, see frame.hpp) of /exchange/data.
//
// What a file leaves out is filled in as other tools do it, and each such guess is a note for the user.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "miniapps/formats/frame.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::formats {

struct ScanShape {
  std::uint32_t angles = 0, slices = 0, columns = 0;
  bool operator==(const ScanShape&) const = default;
};

enum class AngleUnit { degrees, radians };

// What the user says against or beside the file.
struct DataExchangeOptions {
  std::optional<AngleUnit> theta_unit = std::nullopt;
  // First and last angle in degrees, both included, evenly spaced; the file's theta is not read.
  std::optional<std::array<double, 2>> theta_range = std::nullopt;
  // Stands in for values that are not finite; without it they are an error.
  std::optional<float> replace_not_finite = std::nullopt;
};

// A range of slices in sinogram order.
struct ScanBlock {
  std::vector<std::byte> data;    // [count][angles][columns] of dtype()
  std::vector<float> flat, dark;  // [count][columns], the means; empty unless has_flats()
};

class DataExchangeFile {
 public:
  // Reads shape, angles, flats and darks; data stays in the file.
  //
  // Missing theta: 0 to 180 degrees, both included.  Theta without units: degrees if any |theta| > 2 pi.
  // Missing darks: zero.  Missing flats: float data that starts below 2 is taken for normalised
  // transmission (has_flats() is false); else each slice's flat is the mean of its four outermost columns
  // on both sides, air in most scans (as TomoPy's normalize_bg).  Signed or wider than 16-bit integers and
  // doubles become f32.
  // Errors: not_found; failed with HDF5's reason; usage for what the file cannot mean.
  static pilot::Result<DataExchangeFile> open(const std::filesystem::path& path,
                                              const DataExchangeOptions& options = {});
  ~DataExchangeFile();
  DataExchangeFile(DataExchangeFile&&) noexcept;
  DataExchangeFile& operator=(DataExchangeFile&&) noexcept;

  const ScanShape& shape() const;
  DataType dtype() const;
  bool has_flats() const;
  const std::vector<float>& theta() const;        // [angles], radians
  double centre() const;                          // NaN: the file does not say
  const std::vector<std::string>& notes() const;  // one sentence per guess

  // Slices [begin, begin + count).  One pass over the file's chunks, so take many at a time.
  // Errors: failed (HDF5's reason, or values that are not finite, with the first one's place).
  pilot::Result<ScanBlock> read(std::uint32_t begin, std::uint32_t count) const;

 private:
  struct Impl;
  explicit DataExchangeFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Writes such a file with u16 counts.  It appears under its name when finish() succeeded.
class DataExchangeWriter {
 public:
  struct Content {
    ScanShape shape;
    std::uint32_t flat_frames = 0, dark_frames = 0;
    std::vector<double> theta;  // [angles], radians; stored in degrees
    double centre = std::numeric_limits<double>::quiet_NaN();
  };

  static pilot::Result<DataExchangeWriter> create(const std::filesystem::path& path, const Content& content);
  ~DataExchangeWriter();  // without finish(): removes what it wrote
  DataExchangeWriter(DataExchangeWriter&&) noexcept;
  DataExchangeWriter& operator=(DataExchangeWriter&&) noexcept;

  // One slice: data [angles][columns], flats [flat_frames][columns], darks [dark_frames][columns].
  pilot::Result<void> write_slice(std::uint32_t slice, std::span<const std::uint16_t> data,
                                  std::span<const std::uint16_t> flats, std::span<const std::uint16_t> darks);
  pilot::Result<void> finish();

 private:
  struct Impl;
  explicit DataExchangeWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace miniapps::formats
