// For the tests of this folder: a folder that goes away again, and waiting for a condition on a loop.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "pilot/base/clock.hpp"
#include "pilot/base/event_loop.hpp"

namespace pilot::agent::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/pilot-agent-test-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Runs the loop until the condition holds.  False when it does not within `limit`.
template <typename Condition>
bool eventually(EventLoop& loop, Condition condition, Duration limit = std::chrono::seconds(60)) {
  const Deadline deadline(system_clock(), limit);
  while (!condition()) {
    if (deadline.passed()) return false;
    loop.run_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace pilot::agent::test
