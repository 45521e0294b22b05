// For the tests of this folder: a folder that goes away again, and waiting for a condition on a loop.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "pilot/base/test_support.hpp"

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

using pilot::test::eventually;

}  // namespace pilot::agent::test
