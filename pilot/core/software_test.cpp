#include "pilot/core/software.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/core/test_adaptors.hpp"

namespace pilot::core {
namespace {

class Recorder final : public Observer {
 public:
  void note(std::string_view sentence) override { notes.emplace_back(sentence); }
  std::vector<std::string> notes;
};

class SoftwareTest : public testing::Test {
 protected:
  SoftwareTest() {
    const std::map<std::string, std::string> variables{{"JAVA_HOME", (root / "java").string()},
                                                       {"PILOT_SOFTWARE", (root / "software").string()},
                                                       {"XDG_CACHE_HOME", (root / "cache").string()},
                                                       {"PILOT_SOURCE_DIR", (root / "source").string()},
                                                       {"PILOT_TEST_ECHO_HOME", ""}};
    for (const auto& [name, value] : variables) {
      if (const char* old = std::getenv(name.c_str())) before[name] = old;
      setenv(name.c_str(), value.c_str(), 1);
    }
    write("java/bin/java", "#!/bin/sh\n", 0755);
    write("java/release", "JAVA_VERSION=\"17\"\n");
  }
  ~SoftwareTest() override {
    for (const char* name :
         {"JAVA_HOME", "PILOT_SOFTWARE", "XDG_CACHE_HOME", "PILOT_SOURCE_DIR", "PILOT_TEST_ECHO_HOME"})
      before.contains(name) ? setenv(name, before[name].c_str(), 1) : unsetenv(name);
    EXPECT_TRUE(remove_tree(root).has_value());
  }

  void write(const std::string& path, std::string_view text, mode_t mode = 0644) const {
    EXPECT_TRUE(make_directory((root / path).parent_path(), 0755).has_value());
    EXPECT_TRUE(write_file(root / path, text, mode).has_value());
  }
  void install(const std::string& folder) const {
    write(folder + "/echo", "");
    write(folder + "/installed.json", "{}");
  }

  std::filesystem::path root = std::filesystem::temp_directory_path() / ("pilot-software-" + random_hex(6));
  std::map<std::string, std::string> before;
  testing_adaptors::TestFramework adaptor;
};

TEST_F(SoftwareTest, MissingNamesTheCommand) {
  const auto found = locate_software(adaptor);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_EQ(found.error().text(),
            "echo is not installed; 'pilot frameworks install echo' installs version 1.2 into " +
                (root / "software").string());
}

TEST_F(SoftwareTest, TheUsersCopyThenTheRecipesVersionThenOthers) {
  install("cache/pilot/frameworks/echo-1.3");
  EXPECT_EQ(locate_software(adaptor).value().home, root / "cache/pilot/frameworks/echo-1.3");
  install("cache/pilot/frameworks/echo-1.2");
  EXPECT_EQ(locate_software(adaptor).value().home, root / "cache/pilot/frameworks/echo-1.2");
  install("software/frameworks/echo-1.2");
  EXPECT_EQ(locate_software(adaptor).value().home, root / "software/frameworks/echo-1.2");
  EXPECT_EQ(locate_software(adaptor).value().origin, "installed");
  install("own");
  setenv("PILOT_TEST_ECHO_HOME", (root / "own").c_str(), 1);
  EXPECT_EQ(locate_software(adaptor).value().home, root / "own");
  EXPECT_EQ(locate_software(adaptor).value().origin, "PILOT_TEST_ECHO_HOME");
}

TEST_F(SoftwareTest, AnUnfinishedInstallationIsNone) {
  write("software/frameworks/echo-1.2/echo", "");
  EXPECT_FALSE(locate_software(adaptor).has_value());
}

TEST_F(SoftwareTest, AWrongVariableIsNamed) {
  setenv("PILOT_TEST_ECHO_HOME", "/nowhere", 1);
  EXPECT_EQ(locate_software(adaptor).error().text(),
            "PILOT_TEST_ECHO_HOME is '/nowhere': there is no echo in '/nowhere'");
}

TEST_F(SoftwareTest, InstallRunsTheRecipe) {
  write("source/adaptors/framework/echo/share/install.sh",
        "#!/bin/sh\necho 'echo: fetching' >&2\nmkdir -p \"$PREFIX\"\ncp \"$SHARE/echo\" \"$PREFIX/echo\"\n"
        "echo '{}' > \"$PREFIX/installed.json\"\n",
        0755);
  write("source/adaptors/framework/echo/share/echo", "");
  plugin::Registry registry = testing_adaptors::registry();
  Recorder recorder;
  const auto installed =
      install_software({&registry, &system_clock(), &recorder}, adaptor, root / "software");
  ASSERT_TRUE(installed.has_value()) << installed.error().text();
  EXPECT_EQ(installed.value().home, root / "software/frameworks/echo-1.2");
  EXPECT_EQ(recorder.notes, std::vector<std::string>{"echo: fetching"});
  EXPECT_TRUE(locate_software(adaptor).has_value());
}

TEST_F(SoftwareTest, AFailedInstallHasTheRecipesWords) {
  write("source/adaptors/framework/echo/share/install.sh", "#!/bin/sh\necho 'echo: no network'\nexit 1\n",
        0755);
  plugin::Registry registry = testing_adaptors::registry();
  Recorder recorder;
  const auto installed =
      install_software({&registry, &system_clock(), &recorder}, adaptor, root / "software");
  ASSERT_FALSE(installed.has_value());
  EXPECT_EQ(installed.error().message, "cannot install echo: echo: no network");
}

}  // namespace
}  // namespace pilot::core
