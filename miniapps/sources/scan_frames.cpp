#include "miniapps/sources/scan_frames.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <span>
#include <utility>

#include "miniapps/formats/frame.hpp"

namespace miniapps::sources {
namespace {

formats::FrameHeader header_of(const ScanDescription& scan, const RunId& run_id, std::uint32_t slice,
                               std::uint32_t count) {
  formats::FrameHeader header;
  header.run_id = run_id;
  header.slice_begin = slice;
  header.slice_count = count;
  header.slices_total = scan.shape.slices;
  header.angles = scan.shape.angles;
  header.columns = scan.shape.columns;
  header.dtype = scan.dtype;
  header.has_flats = scan.has_flats;
  header.centre = scan.centre;
  return header;
}

}  // namespace

ScanFrames::ScanFrames(std::unique_ptr<ScanSource> source, std::uint32_t slices_per_message,
                       pilot::Bytes memory, const RunId& run_id)
    : source_(std::move(source)), slices_per_message_(slices_per_message), run_id_(run_id) {
  assert(slices_per_message > 0);
  const std::uint32_t slices = description().shape.slices;
  slices_per_message_ = std::min(slices_per_message, slices);
  blocks_ = (slices + slices_per_message_ - 1) / slices_per_message_;
  const auto blocks_in = [&](pilot::Bytes bytes, std::uint32_t limit) {
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(bytes.count / message_bytes(), 1, std::uint64_t{limit}));
  };
  window_blocks_ = blocks_in(memory, blocks_);
  read_blocks_ = blocks_in(source_->bytes_per_read(), window_blocks_);
}

std::uint32_t ScanFrames::slices_of(std::uint32_t block) const {
  return std::min(slices_per_message_, description().shape.slices - first_slice(block));
}

std::size_t ScanFrames::message_bytes() const {
  return formats::frame_header_bytes +
         formats::payload_bytes(header_of(description(), run_id_, 0, slices_per_message_));
}

pilot::Result<void> ScanFrames::load(std::uint32_t first_block, std::uint32_t count) {
  const ScanDescription& scan = description();
  const std::uint32_t begin = first_slice(first_block);
  const std::uint32_t end = first_slice(first_block + count - 1) + slices_of(first_block + count - 1);
  PILOT_TRY(const formats::ScanBlock read, source_->read(begin, end - begin));
  const std::size_t slice_bytes =
      std::size_t{scan.shape.angles} * scan.shape.columns * formats::size_of(scan.dtype);
  for (std::uint32_t block = first_block; block < first_block + count; ++block) {
    const std::size_t offset = first_slice(block) - begin, slices = slices_of(block);
    const std::size_t row = scan.has_flats ? scan.shape.columns : 0;
    const auto header = header_of(scan, run_id_, first_slice(block), slices_of(block));
    window_.push_back(std::make_shared<transports::Buffer>(
        formats::encode_frame(header, scan.theta, std::span(read.flat).subspan(offset * row, slices * row),
                              std::span(read.dark).subspan(offset * row, slices * row),
                              std::span(read.data).subspan(offset * slice_bytes, slices * slice_bytes))));
  }
  return pilot::ok();
}

pilot::Result<void> ScanFrames::prepare(const std::function<bool(std::uint32_t)>& on_block) {
  window_begin_ = 0;
  window_.clear();
  while (window_.size() < window_blocks_) {
    const auto done = static_cast<std::uint32_t>(window_.size());
    PILOT_TRY_VOID(load(done, std::min(read_blocks_, window_blocks_ - done)));
    if (on_block && !on_block(static_cast<std::uint32_t>(window_.size()))) break;
  }
  return pilot::ok();
}

pilot::Result<transports::SharedBuffer> ScanFrames::take(std::uint32_t block, std::uint64_t sequence,
                                                         std::uint64_t scan_id,
                                                         std::uint64_t source_time_ns) {
  assert(block < blocks_);
  if (block < window_begin_ || block >= window_begin_ + window_.size()) {
    // What is still being sent lives on in its messages.
    window_.clear();
    window_begin_ = block;
    PILOT_TRY_VOID(load(block, std::min(read_blocks_, blocks_ - block)));
  }
  auto& kept = window_[block - window_begin_];
  // Delivery reports come in this thread, so a count of one cannot be about to change; the fence orders
  // the transport's last reads before the writes below.
  if (kept.use_count() > 1) kept = std::make_shared<transports::Buffer>(*kept);
  std::atomic_thread_fence(std::memory_order_acquire);
  formats::restamp_frame(*kept, sequence, scan_id, source_time_ns);
  return transports::SharedBuffer(kept);
}

}  // namespace miniapps::sources
