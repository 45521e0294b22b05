// Messages that can't be processed, kept aside for a person to look at:
//
//     OUT/dead-letters/<topic>-<partition>-<offset>.bin    the message as it came
//     OUT/dead-letters/<topic>-<partition>-<offset>.json   one line: topic, partition, offset, reason ...
//
// A message that is delivered again takes the same two files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "miniapps/transports/transport.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::processors {

class DeadLetters {
 public:
  // At most `limit` messages are kept in the folder: a wrong topic must not fill the disk.
  DeadLetters(std::filesystem::path folder, std::string topic, std::size_t limit, const pilot::Clock& clock);

  // Keeps the message, on disk when this returns.  False: the limit is reached, it was not kept.
  // Thread-safe.  Errors: failed (disk).
  pilot::Result<bool> keep(transports::Position position, std::span<const std::byte> message,
                           std::string_view reason);

 private:
  const std::filesystem::path folder_;
  const std::string topic_;
  const std::size_t limit_;
  const pilot::Clock& clock_;
  std::mutex mutex_;
  std::size_t kept_ = 0;
  bool counted_ = false;  // what earlier processes left in the folder
};

}  // namespace miniapps::processors
