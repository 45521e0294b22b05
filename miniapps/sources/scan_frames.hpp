// A scan as messages: encoded once, sent many times.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "miniapps/sources/scan_source.hpp"
#include "miniapps/transports/transport.hpp"
#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::sources {

using RunId = std::array<std::uint8_t, 16>;

class ScanFrames {
 public:
  // Blocks of `slices_per_message` slices (the last may have fewer).  As much of the scan as `memory`
  // allows is kept encoded; of a larger scan one window after the other is read again in each round.
  ScanFrames(std::unique_ptr<ScanSource> source, std::uint32_t slices_per_message, pilot::Bytes memory,
             const RunId& run_id);

  const ScanDescription& description() const { return source_->description(); }
  std::uint32_t blocks() const { return blocks_; }
  std::uint32_t first_slice(std::uint32_t block) const { return block * slices_per_message_; }
  // Bytes of the largest message.
  std::size_t message_bytes() const;
  bool fits_in_memory() const { return window_blocks_ >= blocks_; }

  // Encodes the first window ahead of time.  `on_block` is called with the number of blocks done; false
  // ends it early, which is no error.
  pilot::Result<void> prepare(const std::function<bool(std::uint32_t)>& on_block);

  // The block as message number `sequence`.  It is stamped in place, or in a copy while an earlier
  // sending of it is still under way.
  pilot::Result<transports::SharedBuffer> take(std::uint32_t block, std::uint64_t sequence,
                                               std::uint64_t scan_id, std::uint64_t source_time_ns);

 private:
  pilot::Result<void> load(std::uint32_t first_block, std::uint32_t count);
  std::uint32_t slices_of(std::uint32_t block) const;

  std::unique_ptr<ScanSource> source_;
  std::uint32_t slices_per_message_;
  RunId run_id_;
  std::uint32_t blocks_;
  std::uint32_t window_blocks_;  // kept
  std::uint32_t read_blocks_;    // read at once
  std::uint32_t window_begin_ = 0;
  std::vector<std::shared_ptr<transports::Buffer>> window_;  // blocks window_begin_ and following
};

}  // namespace miniapps::sources
