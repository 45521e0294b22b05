#include "pilot/agent/log_limit.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pilot/agent/test_support.hpp"
#include "pilot/base/file.hpp"

namespace pilot::agent {
namespace {

TEST(LogLimit, TheEndIsKeptAndTheWriterGoesOn) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "service.log";
  const int writer = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ASSERT_GE(writer, 0);
  const auto say = [&](std::string_view text) {
    EXPECT_EQ(::write(writer, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  say("0123456789");
  EXPECT_FALSE(limit_log(path, Bytes{10}).value());
  say("abc");
  EXPECT_TRUE(limit_log(path, Bytes{10}).value());
  say("next");
  EXPECT_EQ(read_file(path).value(), "next");
  EXPECT_EQ(read_file(path.string() + ".1").value(), "3456789abc");
  EXPECT_FALSE(limit_log(folder.path() / "absent", Bytes{1}).value());
  ::close(writer);
}

}  // namespace
}  // namespace pilot::agent
