// For tests: messages, a consumer that gives them from memory, and an algorithm that only copies.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "miniapps/formats/frame.hpp"
#include "miniapps/processors/reconstructor.hpp"
#include "miniapps/transports/transport.hpp"

namespace miniapps::processors::test_support {

struct Shape {
  std::uint32_t angles = 8;
  std::uint32_t columns = 16;
  std::uint32_t slices_total = 8;
  std::uint32_t block = 2;
};

// Block number `sequence` of a run that sends scan after scan.
inline std::vector<std::byte> frame(std::uint64_t sequence, const Shape& shape = {}, std::uint8_t run = 7) {
  const auto blocks = shape.slices_total / shape.block;
  formats::FrameHeader header;
  header.run_id.fill(run);
  header.sequence = sequence;
  header.scan_id = sequence / blocks;
  header.slice_begin = static_cast<std::uint32_t>(sequence % blocks) * shape.block;
  header.slice_count = shape.block;
  header.slices_total = shape.slices_total;
  header.angles = shape.angles;
  header.columns = shape.columns;
  header.centre = (shape.columns - 1) / 2.0;
  header.source_time_ns = 1'700'000'000'000'000'000ULL;
  std::vector<float> theta(shape.angles);
  for (std::size_t i = 0; i < theta.size(); ++i)
    theta[i] = 3.14159265f * static_cast<float>(i) / static_cast<float>(theta.size());
  std::vector<std::uint16_t> data(std::size_t{shape.block} * shape.angles * shape.columns);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::uint16_t>(1000 + 31 * i + 7 * header.slice_begin + 3 * header.scan_id);
  return formats::encode_frame(header, theta, {}, {}, std::as_bytes(std::span(data)));
}

// "Reconstruction": the image is filled from the block's first values.
class CopyAlgorithm : public Algorithm {
 public:
  formats::VolumeDescription volume_of(const formats::FrameHeader& header) const override {
    formats::VolumeDescription d;
    for (auto byte : header.run_id) {
      constexpr auto digits = "0123456789abcdef";
      d.run_id += digits[byte >> 4], d.run_id += digits[byte & 15];
    }
    d.scan_id = header.scan_id;
    d.slices = header.slices_total;
    d.rows = d.columns = header.columns;
    d.angles = header.angles;
    d.algorithm = "copy";
    d.parameters = parameters();
    if (find_centre) d.centre = std::numeric_limits<double>::quiet_NaN();
    return d;
  }
  std::unique_ptr<Reconstructor> make_reconstructor() override { return std::make_unique<Copy>(*this); }
  std::uint32_t slices_per_call() const override { return 4; }
  std::string parameters() const override { return "copy"; }

  std::function<pilot::Result<void>(const formats::FrameHeader&)> before;  // each block, on its thread
  std::function<CentreAnswer(const formats::FrameHeader&)> find_centre;    // set: it has to be found
  std::atomic<std::size_t> largest_call{0};                                // in blocks

 private:
  struct Copy final : Reconstructor {
    explicit Copy(CopyAlgorithm& a) : algorithm(a) {}
    pilot::Result<CentreAnswer> find_centre(const formats::FrameView& block) override {
      return algorithm.find_centre ? algorithm.find_centre(block.header) : CentreAnswer{};
    }
    pilot::Result<void> run(std::span<const formats::FrameView> blocks, std::span<const double>,
                            std::span<float> out) override {
      std::size_t next = 0;
      for (const auto& block : blocks) {
        if (algorithm.before) PILOT_TRY_VOID(algorithm.before(block.header));
        const auto pixels =
            std::size_t{block.header.slice_count} * block.header.columns * block.header.columns;
        const auto* raw = reinterpret_cast<const std::uint16_t*>(block.data.data());
        for (std::size_t i = 0; i < pixels; ++i) out[next++] = raw[i % (block.data.size() / 2)];
      }
      algorithm.largest_call = std::max<std::size_t>(algorithm.largest_call, blocks.size());
      return pilot::ok();
    }
    CopyAlgorithm& algorithm;
  };
};

// Partitions in memory.  Keeps what was acknowledged, for the test to look at after the processor is
// gone, in a log that it shares.
struct Log {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::int32_t, std::vector<std::vector<std::byte>>> partitions;
  std::set<transports::Position> acknowledged;
  std::vector<std::string> calls;
  std::function<void()> on_receive;           // on the receiver's thread, before each receive
  std::optional<pilot::Error> receive_error;  // instead of waiting at the end
  bool closed = false;
  bool resumed = false;

  bool is_acknowledged(transports::Position p) {
    const std::lock_guard lock(mutex);
    return acknowledged.contains(p);
  }
  // False when `count` acknowledgements did not come.
  bool wait_acknowledged(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(100), [&] { return acknowledged.size() >= count; });
  }
};

class MemoryConsumer final : public transports::Consumer {
 public:
  explicit MemoryConsumer(std::shared_ptr<Log> log) : log_(std::move(log)) {}

  pilot::Result<std::optional<transports::Message>> receive(pilot::Duration) override {
    if (log_->on_receive) log_->on_receive();
    std::unique_lock lock(log_->mutex);
    for (const auto& [partition, messages] : log_->partitions) {
      auto& next = next_[partition];
      if (next >= messages.size()) continue;
      const auto& bytes = messages[next];
      const transports::Position position{partition, static_cast<std::int64_t>(next++)};
      return std::optional(transports::Message(nullptr, bytes, {}, position));
    }
    if (log_->receive_error) return *log_->receive_error;
    log_->changed.wait_for(lock, std::chrono::milliseconds(1));
    return std::optional<transports::Message>();
  }
  void acknowledge(transports::Position position) override {
    const std::lock_guard lock(log_->mutex);
    log_->acknowledged.insert(position);
    log_->changed.notify_all();
  }
  pilot::Result<void> commit() override { return pilot::ok(); }
  bool at_end() const override { return true; }
  bool resumed_at_end() const override { return log_->resumed; }
  std::int64_t lag() const override { return 0; }
  pilot::Result<void> close() override {
    log_->closed = true;
    return pilot::ok();
  }

 private:
  std::shared_ptr<Log> log_;
  std::map<std::int32_t, std::size_t> next_;
};

}  // namespace miniapps::processors::test_support
