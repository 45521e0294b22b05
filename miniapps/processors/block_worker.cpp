#include "miniapps/processors/block_worker.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

namespace miniapps::processors {

using pilot::ErrorCode;
using pilot::Result;
using transports::Message;

namespace {

constexpr std::uint64_t result_bytes_per_call = 64ULL << 20;

pilot::Duration thread_cpu() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

pilot::WallTime wall_time(std::uint64_t ns) {
  return pilot::WallTime(pilot::Duration(static_cast<std::int64_t>(ns)));
}

std::size_t floats_of(const Done& done) {
  const auto& d = done.volume->description();
  return done.range.count * d.rows * d.columns;
}

std::size_t blocks_per_call(std::uint32_t slices_per_call, const formats::FrameHeader& header) {
  const auto bytes = std::uint64_t{header.slice_count} * header.columns * header.columns * sizeof(float);
  const auto by_slices = slices_per_call / std::max(header.slice_count, 1u);
  const auto by_bytes = result_bytes_per_call / std::max<std::uint64_t>(bytes, 1);
  return std::max<std::size_t>(1, std::min<std::uint64_t>(by_slices, by_bytes));
}

}  // namespace

BlockWorker::BlockWorker(Algorithm& algorithm, VolumeStore& store, DeadLetters& dead_letters,
                         UndecidedBlocks& undecided, ResultBufferPool& buffers, const pilot::Clock& clock,
                         std::size_t index)
    : algorithm_(algorithm),
      store_(store),
      dead_letters_(dead_letters),
      undecided_(undecided),
      buffers_(buffers),
      clock_(clock),
      index_(index),
      reconstructor_(algorithm.make_reconstructor()) {}

Result<std::vector<Done>> BlockWorker::handle(std::span<Message> messages) {
  const auto begin = clock_.steady();
  const auto cpu_begin = thread_cpu();
  std::vector<Done> all;
  all.reserve(messages.size());  // what is pending points into it
  std::vector<Pending> pending;
  to_find_.clear();
  for (auto& message : messages) {
    PILOT_TRY(const bool goes_on, prepare(message, all.emplace_back(), pending));
    if (!goes_on) all.pop_back();
  }
  PILOT_TRY_VOID(reconstruct(pending));
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(all.size(), 1));
  for (auto& done : all) {
    done.handled.busy = (clock_.steady() - begin) / count;
    done.handled.cpu = (thread_cpu() - cpu_begin) / count;
  }
  return all;
}

Result<std::vector<Message>> BlockWorker::take_ready() {
  auto ready = undecided_.take_due();
  for (const auto& [scan, description] : to_find_) {
    // After our block was laid down to wait, or its axis found: whoever comes second sees the other.
    PILOT_TRY(const auto known, store_.find(description));
    if (!known) continue;
    for (auto& message : undecided_.take(scan)) ready.push_back(std::move(message));
  }
  return ready;
}

// Fills `done`; adds the message to `pending` when its slices have to be made.
Result<bool> BlockWorker::prepare(Message& message, Done& done, std::vector<Pending>& pending) {
  const auto refuse = [&](const std::string& reason) -> Result<bool> {
    PILOT_TRY_VOID(set_aside(message, reason, done));
    return true;
  };
  done.position = message.position();
  done.handled.worker = index_;
  done.handled.bytes = message.payload().size();
  auto decoded = formats::decode_frame(message.payload());
  if (!decoded) return refuse(decoded.error().message);
  const auto& header = decoded.value().header;
  auto wanted = algorithm_.volume_of(header);
  done.range = {header.slice_begin, header.slice_count};
  done.handled.source_time = wall_time(header.source_time_ns);
  if (const auto refusal = store_.refusal(wanted, done.range); !refusal.empty()) return refuse(refusal);
  if (std::isnan(wanted.centre)) {
    const auto decided = decide_centre(decoded.value(), wanted);
    if (!decided && decided.error().code == ErrorCode::usage) return refuse(decided.error().message);
    if (!decided) return decided.error();
    if (!decided.value()) {
      undecided_.wait({wanted.run_id, wanted.scan_id}, header, std::move(message));
      return false;
    }
  }
  PILOT_TRY(auto place, store_.place(wanted, done.range));
  if (!place.volume) return refuse(place.refusal);
  done.handled.run_id = wanted.run_id;
  done.volume = std::move(place.volume);
  PILOT_TRY(const bool there, done.volume->has(done.range));
  // If it is there, the committer will sync and acknowledge it, and see that it is a repeat.
  if (!there) pending.push_back({&message, std::move(decoded).value(), &done});
  return true;
}

// The axis for a scan's volume, if there is none yet.  What counts in the end is that of the volume: other
// workers and processes may find one at the same time, and the volume remembers that of the first.
Result<bool> BlockWorker::decide_centre(const formats::FrameView& frame, formats::VolumeDescription& wanted) {
  const ScanKey scan{wanted.run_id, wanted.scan_id};
  to_find_.emplace(scan, wanted);
  PILOT_TRY(const auto known, store_.find(wanted));
  if (known) return true;
  PILOT_TRY(auto answer, reconstructor_->find_centre(frame));
  if (!answer.sure()) {
    const auto best = undecided_.best(scan, answer);
    if (!best) return false;
    answer = *best;
  }
  const bool found = !std::isnan(answer.centre);
  wanted.centre = found ? answer.centre : (frame.header.columns - 1) / 2.0;
  wanted.centre_source = found ? "found" : "middle";
  return true;
}

// In groups that may share a call.
Result<void> BlockWorker::reconstruct(std::span<const Pending> pending) {
  while (!pending.empty()) {
    const auto& first = pending.front().frame;
    messages_per_call_ = blocks_per_call(algorithm_.slices_per_call(), first.header);
    std::size_t size = 1;
    while (size < std::min(messages_per_call_, pending.size()) &&
           may_share_a_call(first, pending[size].frame))
      ++size;
    PILOT_TRY_VOID(reconstruct_group(pending.first(size)));
    pending = pending.subspan(size);
  }
  return pilot::ok();
}

Result<void> BlockWorker::reconstruct_group(std::span<const Pending> group) {
  std::vector<formats::FrameView> frames;
  std::vector<double> centres;
  std::size_t floats = 0;
  for (const auto& member : group) {
    frames.push_back(member.frame);
    centres.push_back(member.done->volume->description().centre);
    floats += floats_of(*member.done);
  }
  const auto buffer = buffers_.take(floats);
  auto rest = buffer->first(floats);
  const auto made = reconstructor_->run(frames, centres, rest);
  if (!made && made.error().code != ErrorCode::usage) return made.error();
  if (!made && group.size() == 1)
    return set_aside(*group.front().message, made.error().message, *group.front().done);
  if (!made) {  // one of them is to blame; the others are not
    for (std::size_t i = 0; i < group.size(); ++i) PILOT_TRY_VOID(reconstruct_group(group.subspan(i, 1)));
    return pilot::ok();
  }
  for (const auto& member : group) {
    auto& done = *member.done;
    done.buffer = buffer;
    done.slices = rest.first(floats_of(done));
    done.handled.result_bytes = done.slices.size_bytes();
    rest = rest.subspan(done.slices.size());
  }
  return pilot::ok();
}

Result<void> BlockWorker::set_aside(const Message& message, const std::string& reason, Done& done) {
  PILOT_TRY(const bool kept, dead_letters_.keep(message.position(), message.payload(), reason));
  done.volume.reset();
  done.handled.outcome = kept ? Outcome::dead_letter : Outcome::dead_letter_not_kept;
  return pilot::ok();
}

}  // namespace miniapps::processors
