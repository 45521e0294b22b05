// What one worker thread does with messages: decode, look whether the result is there already, reconstruct;
// or set aside what can't be used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "miniapps/formats/frame.hpp"
#include "miniapps/processors/dead_letters.hpp"
#include "miniapps/processors/process_metrics.hpp"
#include "miniapps/processors/reconstructor.hpp"
#include "miniapps/processors/result_buffer.hpp"
#include "miniapps/processors/undecided_blocks.hpp"
#include "miniapps/processors/volume_store.hpp"
#include "miniapps/transports/transport.hpp"
#include "pilot/base/clock.hpp"

namespace miniapps::processors {

// A message with its result, not yet on disk.
struct Done {
  transports::Position position;
  Handled handled;
  std::shared_ptr<Volume> volume;  // none: a dead letter
  SliceRange range;
  std::shared_ptr<ResultBuffer> buffer;  // none: nothing to write, it was there already
  std::span<const float> slices;         // in the buffer
};

class BlockWorker {
 public:
  // References must outlive it.  `index` is the worker's number in the metrics.
  BlockWorker(Algorithm& algorithm, VolumeStore& store, DeadLetters& dead_letters, UndecidedBlocks& undecided,
              ResultBufferPool& buffers, const pilot::Clock& clock, std::size_t index);

  // How many messages are best handled together, going by the last ones.
  std::size_t messages_per_call() const { return messages_per_call_; }

  // One Done per message, in their order, but for those that have to wait, which go to the undecided. Errors:
  // failed (disk, memory), usage (output folder with other parameters): what no other message would do
  // better.
  pilot::Result<std::vector<Done>> handle(std::span<transports::Message> messages);
  // Blocks that need not wait any more after the last handle(): to be handled next.
  pilot::Result<std::vector<transports::Message>> take_ready();

 private:
  struct Pending {
    const transports::Message* message;
    formats::FrameView frame;
    Done* done;
  };
  // False: the block waits.
  pilot::Result<bool> prepare(transports::Message& message, Done& done, std::vector<Pending>& pending);
  pilot::Result<bool> decide_centre(const formats::FrameView& frame, formats::VolumeDescription& wanted);
  pilot::Result<void> reconstruct(std::span<const Pending> pending);
  pilot::Result<void> reconstruct_group(std::span<const Pending> group);
  pilot::Result<void> set_aside(const transports::Message& message, const std::string& reason, Done& done);

  Algorithm& algorithm_;
  VolumeStore& store_;
  DeadLetters& dead_letters_;
  UndecidedBlocks& undecided_;
  ResultBufferPool& buffers_;
  const pilot::Clock& clock_;
  const std::size_t index_;
  std::unique_ptr<Reconstructor> reconstructor_;
  std::size_t messages_per_call_ = 1;
  std::map<ScanKey, formats::VolumeDescription>
      to_find_;  // scans of the last blocks whose axis is to be found
};

}  // namespace miniapps::processors
