#include "miniapps/processors/undecided_blocks.hpp"

#include <algorithm>

namespace miniapps::processors {

using transports::Message;

void UndecidedBlocks::hand_over(Scan& scan, std::vector<Message>& to) {
  for (auto& block : scan.blocks) {
    bytes_ -= block.payload().size();
    to.push_back(std::move(block));
  }
  scan.blocks.clear();
}

std::optional<CentreAnswer> UndecidedBlocks::best(const ScanKey& key, const CentreAnswer& of_block) {
  const std::lock_guard lock(mutex_);
  auto& scan = scans_[key];
  if (of_block.doubt < scan.best.doubt) scan.best = of_block;
  if (closed_ || scan.due) return scan.best;
  return std::nullopt;
}

void UndecidedBlocks::wait(const ScanKey& key, const formats::FrameHeader& header, Message message) {
  const std::lock_guard lock(mutex_);
  auto& scan = scans_[key];
  if (scan.blocks.empty()) scan.since = clock_.steady();
  scan.slices_total = header.slices_total;
  if (scan.begins.insert(header.slice_begin).second) scan.slices += header.slice_count;
  bytes_ += message.payload().size();
  scan.blocks.push_back(std::move(message));
}

std::vector<Message> UndecidedBlocks::take(const ScanKey& key) {
  const std::lock_guard lock(mutex_);
  std::vector<Message> taken;
  const auto found = scans_.find(key);
  if (found == scans_.end()) return taken;
  hand_over(found->second, taken);
  scans_.erase(found);
  return taken;
}

std::vector<Message> UndecidedBlocks::take_due() {
  const std::lock_guard lock(mutex_);
  std::vector<Message> taken;
  const bool too_much = bytes_ > limit_.count;
  for (auto& [key, scan] : scans_) {
    if (scan.blocks.empty()) continue;
    const bool all_here = scan.slices >= scan.slices_total;
    if (!all_here && !too_much && clock_.steady() - scan.since < patience_) continue;
    scan.due = true;
    hand_over(scan, taken);
  }
  return taken;
}

std::vector<Message> UndecidedBlocks::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::vector<Message> taken;
  for (auto& [key, scan] : scans_) hand_over(scan, taken);
  return taken;
}

std::vector<Message> UndecidedBlocks::take_if(const std::function<bool(const Message&)>& unwanted) {
  const std::lock_guard lock(mutex_);
  std::vector<Message> taken;
  for (auto& [key, scan] : scans_) {
    const auto begin = std::stable_partition(scan.blocks.begin(), scan.blocks.end(),
                                             [&](const Message& m) { return !unwanted(m); });
    for (auto it = begin; it != scan.blocks.end(); ++it) {
      bytes_ -= it->payload().size();
      taken.push_back(std::move(*it));
    }
    scan.blocks.erase(begin, scan.blocks.end());
  }
  return taken;
}

}  // namespace miniapps::processors
