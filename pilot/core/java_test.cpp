#include "pilot/core/java.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::core {
namespace {

TEST(JavaMajor, IsTheFirstNumberThatCounts) {
  EXPECT_EQ(java_major("17.0.21"), 17);
  EXPECT_EQ(java_major("21"), 21);
  EXPECT_EQ(java_major("1.8.0_392"), 8);
  EXPECT_EQ(java_major("22-ea"), 22);
  EXPECT_EQ(java_major(""), 0);
  EXPECT_EQ(java_major("unknown"), 0);
}

class FindJava : public testing::Test {
 protected:
  FindJava() {
    EXPECT_TRUE(make_directory(home / "bin").has_value());
    if (const char* before = std::getenv("JAVA_HOME")) java_home = before;
    setenv("JAVA_HOME", home.c_str(), 1);
  }
  ~FindJava() override {
    java_home.empty() ? unsetenv("JAVA_HOME") : setenv("JAVA_HOME", java_home.c_str(), 1);
    EXPECT_TRUE(remove_tree(home).has_value());
  }
  void write_java(std::string_view script) {
    EXPECT_TRUE(write_file(home / "bin/java", script, 0755).has_value());
  }

  std::filesystem::path home = std::filesystem::temp_directory_path() / ("pilot-java-" + random_hex(6));
  std::string java_home;
};

TEST_F(FindJava, TakesTheVersionFromTheReleaseFile) {
  write_java("#!/bin/sh\nexit 1\n");  // is not run
  ASSERT_TRUE(write_file(home / "release", "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.21\"\n").has_value());
  const auto java = find_java();
  ASSERT_TRUE(java.has_value()) << java.error().text();
  EXPECT_EQ(java.value().version, 17);
  EXPECT_EQ(java.value().origin, "JAVA_HOME");
}

TEST_F(FindJava, AsksWhereThereIsNoReleaseFile) {
  write_java("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019' >&2\n");
  const auto java = find_java();
  ASSERT_TRUE(java.has_value()) << java.error().text();
  EXPECT_EQ(java.value().version, 11);
  EXPECT_EQ(java.value().text, "11.0.2");
}

TEST_F(FindJava, SaysWhatIsWrong) {
  auto java = find_java();
  ASSERT_FALSE(java.has_value());
  EXPECT_EQ(java.error().text(), "JAVA_HOME is '" + home.string() + "', but '" + home.string() +
                                     "/bin/java' is no program; correct or unset JAVA_HOME");
  write_java("#!/bin/sh\necho I am no Java\n");
  java = find_java();
  ASSERT_FALSE(java.has_value());
  EXPECT_EQ(java.error().text(),
            "'" + home.string() + "/bin/java -version' gives no version; is it a working Java?");
  write_java("#!/bin/sh\necho broken pipe >&2\nexit 3\n");
  java = find_java();
  ASSERT_FALSE(java.has_value());
  EXPECT_NE(java.error().message.find("broken pipe"), std::string::npos) << java.error().text();
}

}  // namespace
}  // namespace pilot::core
