// Owners of HDF5's ids, and its error stack as a sentence.  Private to this folder.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pilot/base/error.hpp"

namespace miniapps::formats {

template <herr_t (*close)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  ~Hdf5Handle() { reset(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
    }
    return *this;
  }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  // Closes it now; false when HDF5 could not (a full disk shows itself here).
  bool reset() { return id_ < 0 || close(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
};

using File = Hdf5Handle<H5Fclose>;
using Group = Hdf5Handle<H5Gclose>;
using Dataset = Hdf5Handle<H5Dclose>;
using Dataspace = Hdf5Handle<H5Sclose>;
using Datatype = Hdf5Handle<H5Tclose>;
using Attribute = Hdf5Handle<H5Aclose>;
using PropertyList = Hdf5Handle<H5Pclose>;

// HDF5 prints its errors to standard error unless told not to.  Call before its first use in a function.
void silence_hdf5();

// The innermost entry of HDF5's error stack: "truncated file: eof = 96, ... stored_eof = 2048".
std::string hdf5_reason();

// "what: HDF5's reason".
pilot::Error hdf5_error(std::string_view what);

// Extent of a dataset or attribute; empty for a scalar.
std::vector<hsize_t> extent_of(const Dataspace& space);

// "181 x 2 x 640".
std::string describe_extent(const std::vector<hsize_t>& extent);

}  // namespace miniapps::formats
