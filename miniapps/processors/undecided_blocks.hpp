// Blocks that wait: their scan's rotation axis has to be found, and they don't show it (air above the
// sample). Another block of the scan will, here or in another process; or there is none, and the best answer
// has to do.
//
// A scan's blocks wait until its axis is known, until all of them are here, or until the first has waited for
// `patience`, or all together for more bytes than `limit`.  Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "miniapps/formats/frame.hpp"
#include "miniapps/processors/reconstructor.hpp"
#include "miniapps/transports/transport.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::processors {

// A scan among those of all runs.
using ScanKey = std::pair<std::string, std::uint64_t>;

class UndecidedBlocks {
 public:
  UndecidedBlocks(const pilot::Clock& clock, pilot::Bytes limit,
                  pilot::Duration patience = std::chrono::seconds(30))
      : clock_(clock), limit_(limit), patience_(patience) {}

  // What to go by at once for a block that is not sure itself: the best answer of the scan's blocks, once
  // they have waited enough.  Nothing: let it wait.
  std::optional<CentreAnswer> best(const ScanKey& scan, const CentreAnswer& of_block);
  void wait(const ScanKey& scan, const formats::FrameHeader& header, transports::Message message);

  // The blocks of a scan whose axis is known now; forgets the scan.
  std::vector<transports::Message> take(const ScanKey& scan);
  // The blocks that have waited enough: best() has an answer for them from now on.
  std::vector<transports::Message> take_due();
  // From now on nothing waits; returns what did.
  std::vector<transports::Message> close();
  // Those that are given up.
  std::vector<transports::Message> take_if(const std::function<bool(const transports::Message&)>& unwanted);

 private:
  struct Scan {
    std::vector<transports::Message> blocks;
    std::set<std::uint32_t> begins;  // first slices of those that came
    std::uint64_t slices = 0, slices_total = 0;
    pilot::SteadyTime since;
    CentreAnswer best;
    bool due = false;
  };
  void hand_over(Scan& scan, std::vector<transports::Message>& to);

  const pilot::Clock& clock_;
  const pilot::Bytes limit_;
  const pilot::Duration patience_;
  std::mutex mutex_;
  std::map<ScanKey, Scan> scans_;
  std::uint64_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace miniapps::processors
