// One process at a time, by a file beside the one that it is about.
#pragma once

#include <filesystem>

namespace pilot {

// Holds PATH.lock while it lives; waits for whoever holds it.  Where no such file can be made it holds
// nothing.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

}  // namespace pilot
