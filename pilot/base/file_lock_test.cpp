#include "pilot/base/file_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "pilot/base/random.hpp"

namespace pilot {
namespace {

TEST(FileLockTest, HoldsTheFileWhileItLives) {
  const auto path = std::filesystem::temp_directory_path() / ("pilot-lock-" + random_hex(8));
  const auto taken = [&] {
    const int fd = ::open((path.string() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    const bool is = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
    ::close(fd);
    return is;
  };
  {
    const FileLock lock(path);
    EXPECT_TRUE(taken());
  }
  EXPECT_FALSE(taken());
  std::filesystem::remove(path.string() + ".lock");
  const FileLock nowhere(path / "none" / "record");
}

}  // namespace
}  // namespace pilot
