// GridRec as an Algorithm: cleaning, centre finding and reconstruction by miniapps/kernels.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "miniapps/processors/block_cleaning.hpp"
#include "miniapps/processors/reconstructor.hpp"

namespace miniapps::processors {

struct GridrecParameters {
  std::string filter = "shepp";
  double filter_cutoff = 0.5;    // of hann, hamming, parzen, butterworth; in cycles per bin
  double filter_order = 8;       // of butterworth
  double padding = 2;            // filtering transform / columns
  std::optional<double> centre;  // instead of the messages' own
  bool find_centre = false;      // in the data, even if the messages have one; those that have none always
  bool repeat_edges = false;     // the object is larger than the field of view
  CleaningParameters cleaning;
  std::optional<double> circle;  // pixels beyond this part of the picture's half width become 0
};

const std::vector<std::string>& gridrec_filters();

// Errors: usage (an unknown filter, with a suggestion; a number out of its range).
pilot::Result<std::unique_ptr<Algorithm>> make_gridrec(const GridrecParameters& parameters);

}  // namespace miniapps::processors
