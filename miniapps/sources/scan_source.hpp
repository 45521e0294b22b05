// A tomography scan to be sent: from a data exchange file, or simulated from a phantom.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "miniapps/formats/data_exchange.hpp"
#include "miniapps/generators/scan.hpp"
#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::sources {

// What stays the same in all blocks of a scan.
struct ScanDescription {
  formats::ScanShape shape;
  formats::DataType dtype = formats::DataType::u16;
  bool has_flats = true;
  double centre = 0;         // in columns, see frame.hpp; NaN: not known
  std::vector<float> theta;  // [angles], radians
};

class ScanSource {
 public:
  virtual ~ScanSource() = default;
  virtual const ScanDescription& description() const = 0;

  // Slices [begin, begin + count) in sinogram order.
  virtual pilot::Result<formats::ScanBlock> read(std::uint32_t begin, std::uint32_t count) = 0;

  // How much to read at once: a file that is stored by projections is passed over in each call.
  virtual pilot::Bytes bytes_per_read() const = 0;
};

struct PhantomOptions {
  generators::ScanSpec scan;
  int flat_frames = 10;
  int dark_frames = 10;
  int threads = 0;  // 0: one per core
};

// Errors: those of DataExchangeFile::open.  `notes` gets what was guessed.
pilot::Result<std::unique_ptr<ScanSource>> open_scan_file(const std::filesystem::path& path,
                                                          const formats::DataExchangeOptions& options,
                                                          std::vector<std::string>& notes);

// The same scan, bit by bit, for the same options, whatever the number of threads.
std::unique_ptr<ScanSource> make_phantom_scan(const PhantomOptions& options);

// Writes the simulated scan, with its single flats and darks, as a data exchange file.  `on_slice` is
// called with the number of slices done; false ends it (failed).  Errors: failed with HDF5's reason.
pilot::Result<void> write_phantom_scan(const std::filesystem::path& path, const PhantomOptions& options,
                                       const std::function<bool(std::uint32_t)>& on_slice);

}  // namespace miniapps::sources
