#include "pilot/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

namespace pilot {
namespace {

namespace fs = std::filesystem;

// A new folder that goes away with the test.
class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string name = (fs::temp_directory_path() / "pilot-base-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~FileTest() override { fs::remove_all(folder_); }
  void SetUp() override { ASSERT_FALSE(folder_.empty()); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

// Sets and restores what the whole process shares.
class ScopedUmask {
 public:
  explicit ScopedUmask(mode_t mask) : before_(::umask(mask)) {}
  ~ScopedUmask() { ::umask(before_); }

 private:
  mode_t before_;
};

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~ScopedVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// Writes beyond `size` fail with EFBIG: a disk that is full half-way.
class ScopedFileSizeLimit {
 public:
  explicit ScopedFileSizeLimit(rlim_t size) : handler_before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = size;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ScopedFileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_before_);
  }

 private:
  rlimit before_{};
  void (*handler_before_)(int);
};

TEST_F(FileTest, WhatWasWrittenIsRead) {
  const std::string content = std::string("a\0b\n", 4) + std::string(300'000, 'x');
  ASSERT_TRUE(write_file(folder_ / "file", content).has_value());
  EXPECT_EQ(read_file(folder_ / "file").value(), content);
  ASSERT_TRUE(write_file(folder_ / "file", "").has_value());
  EXPECT_EQ(read_file(folder_ / "file").value(), "");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, ReadsFilesThatSayTheyAreEmpty) {
  EXPECT_NE(read_file("/proc/self/status").value().find("Pid:"), std::string::npos);
}

TEST_F(FileTest, ReadErrorsTellMissingFromBroken) {
  const auto missing = read_file(folder_ / "missing");
  ASSERT_TRUE(missing.has_error());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message,
            "cannot open '" + (folder_ / "missing").string() + "': No such file or directory");
  const auto folder = read_file(folder_);
  ASSERT_TRUE(folder.has_error());
  EXPECT_EQ(folder.error().code, ErrorCode::failed);
}

TEST_F(FileTest, WriteSetsTheModeWhateverTheUmask) {
  const ScopedUmask closed(0777);
  ASSERT_TRUE(write_file(folder_ / "secret", "s", 0600).has_value());
  EXPECT_EQ(mode_of(folder_ / "secret"), 0600U);
  ASSERT_TRUE(write_file(folder_ / "secret", "s", 0644).has_value());
  EXPECT_EQ(mode_of(folder_ / "secret"), 0644U);
}

TEST_F(FileTest, WriteToABareNameGoesToTheWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const auto written = write_file("bare", "content");
  fs::current_path(before);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(read_file(folder_ / "bare").value(), "content");
}

TEST_F(FileTest, FailedWriteKeepsTheOldFileAndLeavesNothing) {
  ASSERT_TRUE(write_file(folder_ / "file", "old").has_value());
  std::optional<Result<void>> written;
  {
    const ScopedFileSizeLimit limit(4096);
    written = write_file(folder_ / "file", std::string(100'000, 'n'));
  }
  ASSERT_TRUE(written->has_error());
  EXPECT_EQ(written->error().code, ErrorCode::failed);
  EXPECT_NE(written->error().message.find("File too large"), std::string::npos) << written->error().message;
  EXPECT_EQ(read_file(folder_ / "file").value(), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, FailedRenameLeavesNothing) {
  fs::create_directory(folder_ / "taken");
  ASSERT_TRUE(write_file(folder_ / "taken", "x").has_error());
  EXPECT_TRUE(fs::is_directory(folder_ / "taken"));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, WriteIntoAMissingFolderNamesTheFile) {
  const auto written = write_file(folder_ / "missing" / "file", "x");
  ASSERT_TRUE(written.has_error());
  EXPECT_EQ(written.error().code, ErrorCode::not_found);
  EXPECT_NE(written.error().message.find("missing/file"), std::string::npos);
}

// Readers see one of the contents as a whole, however the reads fall between the writes.
TEST_F(FileTest, ReadersNeverSeeHalfAFile) {
  const fs::path path = folder_ / "file";
  const std::string one(50'000, '1'), two(70'000, '2');
  ASSERT_TRUE(write_file(path, one).has_value());
  std::atomic<bool> done{false};
  std::atomic<bool> failed{false};
  std::thread writer([&] {
    for (int round = 0; round < 100; ++round) {
      if (!write_file(path, round % 2 == 0 ? two : one).has_value()) failed = true;
    }
    done = true;
  });
  int reads = 0;
  while (!done || reads == 0) {
    const auto content = read_file(path);
    if (!content.has_value() || (content.value() != one && content.value() != two)) failed = true;
    ++reads;
  }
  writer.join();
  EXPECT_FALSE(failed);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, MakeDirectorySetsTheModeOfTheLastOnly) {
  {
    const ScopedUmask mask(022);
    ASSERT_TRUE(make_directory(folder_ / "a" / "b" / "", 0770).has_value());
  }
  EXPECT_EQ(mode_of(folder_ / "a"), 0755U);
  EXPECT_EQ(mode_of(folder_ / "a" / "b"), 0770U);
  ASSERT_TRUE(make_directory(folder_ / "a", 0700).has_value());
  EXPECT_EQ(mode_of(folder_ / "a"), 0755U) << "one that exists is left as it is";
}

TEST_F(FileTest, MakeDirectoryRefusesWhereAFileStands) {
  ASSERT_TRUE(write_file(folder_ / "file", "x").has_value());
  EXPECT_TRUE(make_directory(folder_ / "file").has_error());
  EXPECT_TRUE(make_directory(folder_ / "file" / "below").has_error());
}

TEST_F(FileTest, RemoveTreeDoesNotFollowLinks) {
  ASSERT_TRUE(make_directory(folder_ / "kept").has_value());
  ASSERT_TRUE(write_file(folder_ / "kept" / "file", "x").has_value());
  ASSERT_TRUE(make_directory(folder_ / "tree" / "below").has_value());
  fs::create_directory_symlink(folder_ / "kept", folder_ / "tree" / "link");
  ASSERT_TRUE(remove_tree(folder_ / "tree").has_value());
  EXPECT_FALSE(fs::exists(folder_ / "tree"));
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "file"));
  EXPECT_TRUE(remove_tree(folder_ / "tree").has_value()) << "already gone is success";
}

TEST_F(FileTest, TailTakesTheLastLines) {
  const fs::path path = folder_ / "log";
  ASSERT_TRUE(write_file(path, "one\ntwo\n\nfour\n").has_value());
  EXPECT_EQ(tail_of_file(path, 1), "four");
  EXPECT_EQ(tail_of_file(path, 2), "\nfour");
  EXPECT_EQ(tail_of_file(path, 3), "two\n\nfour");
  EXPECT_EQ(tail_of_file(path, 4), "one\ntwo\n\nfour");
  EXPECT_EQ(tail_of_file(path, 99), "one\ntwo\n\nfour");
  EXPECT_EQ(tail_of_file(path, 0), "");
  ASSERT_TRUE(write_file(path, "one\nunfinished").has_value());
  EXPECT_EQ(tail_of_file(path, 1), "unfinished");
  ASSERT_TRUE(write_file(path, "\none").has_value());
  EXPECT_EQ(tail_of_file(path, 2), "\none");
  EXPECT_EQ(tail_of_file(folder_ / "missing", 5), "");
  EXPECT_EQ(tail_of_file(folder_, 5), "");
}

TEST_F(FileTest, TailCrossesBlocksAndIsBounded) {
  const fs::path path = folder_ / "log";
  std::string content, last;
  for (int line = 0; line < 5000; ++line) {
    const std::string text =
        "line " + std::to_string(line) + std::string(static_cast<std::size_t>(line % 97), '.');
    content += text + "\n";
    if (line >= 4000) last += text + (line == 4999 ? "" : "\n");
  }
  ASSERT_TRUE(write_file(path, content).has_value());
  EXPECT_EQ(tail_of_file(path, 1000), last);
  ASSERT_TRUE(write_file(path, std::string(3 << 20, 'x')).has_value());
  EXPECT_LE(tail_of_file(path, 1).size(), (1U << 20) + 4096U);
}

TEST_F(FileTest, XdgFoldersHaveDefaultsAndIgnoreRelativeValues) {
  const ScopedVariable home("HOME", "/home/someone");
  const ScopedVariable state("XDG_STATE_HOME", nullptr);
  const ScopedVariable cache("XDG_CACHE_HOME", "relative");
  const ScopedVariable config("XDG_CONFIG_HOME", "/elsewhere");
  EXPECT_EQ(home_directory(), "/home/someone");
  EXPECT_EQ(xdg_state_directory(), "/home/someone/.local/state");
  EXPECT_EQ(xdg_cache_directory(), "/home/someone/.cache");
  EXPECT_EQ(xdg_config_directory(), "/elsewhere");
}

TEST_F(FileTest, HomeComesFromThePasswordDatabaseWithoutHOME) {
  const ScopedVariable home("HOME", nullptr);
  EXPECT_TRUE(home_directory().is_absolute());
}

}  // namespace
}  // namespace pilot
