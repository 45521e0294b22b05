// The verbs that become other programs, by the program as it is built and programs that tests put beside it.
#include "miniapps/cli/sibling_program.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

namespace miniapps::cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct Outcome {
  int code = 0;  // 128 + n: ended by signal n
  std::string text;
};

class SiblingVerbs : public testing::Test {
 protected:
  SiblingVerbs() : folder_(fs::temp_directory_path() / ("sibling_test." + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    std::error_code failed;
    fs::create_hard_link(PILOT_BINARY_DIR "/bin/miniapp", folder_ / "miniapp", failed);
    if (failed) fs::copy_file(PILOT_BINARY_DIR "/bin/miniapp", folder_ / "miniapp");
  }
  ~SiblingVerbs() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& script) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << script;
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  Outcome run(const std::string& words) {
    FILE* const pipe = popen(("'" + (folder_ / "miniapp").string() + "' " + words + " 2>&1").c_str(), "r");
    Outcome outcome;
    for (int c; (c = std::fgetc(pipe)) != EOF;) outcome.text += static_cast<char>(c);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
  }
  fs::path folder_;
};

TEST_F(SiblingVerbs, HandAllWordsOverAndReturnTheCode) {
  put("kernels_bench", "for word; do echo \"<$word>\"; done; exit 7\n");
  const auto bench = run("bench kernels --quick -v --svg 'a b.svg' --help x --verbose=1");
  EXPECT_EQ(bench.text, "<--quick>\n<-v>\n<--svg>\n<a b.svg>\n<--help>\n<x>\n<--verbose=1>\n");
  EXPECT_EQ(bench.code, 7);
  EXPECT_EQ(run("bench kernels").text, "");
  put("kernels_gallery", "echo \"$@\"\n");
  const auto gallery = run("gallery out/");
  EXPECT_EQ(gallery.text, "out/\n");
  EXPECT_EQ(gallery.code, 0);
}

TEST_F(SiblingVerbs, HelpIsTheProgramsOwn) {
  put("kernels_bench", "echo \"help: $*\"\n");
  EXPECT_EQ(run("bench kernels --help").text, "help: --help\n");
  const auto bench = run("bench --help");
  EXPECT_EQ(bench.code, 0);
  EXPECT_THAT(bench.text, HasSubstr("kernels                         GridRec, ML-EM and k-means"));
  const auto all = run("--help");
  EXPECT_THAT(all.text, HasSubstr("bench "));
  EXPECT_THAT(all.text, HasSubstr("gallery "));
}

TEST_F(SiblingVerbs, SignalsEndTheProgram) {
  put("kernels_bench", "kill -TERM $$\n");
  // The shell of popen() may have made way for the program, or tells its end as 128 + n.
  EXPECT_EQ(run("bench kernels").code, 128 + SIGTERM);
}

TEST_F(SiblingVerbs, AMissingProgramIsExplained) {
  const auto bench = run("bench kernels --help");
  EXPECT_EQ(bench.code, 3);
  EXPECT_THAT(bench.text,
              HasSubstr("'miniapp bench kernels' is the program 'kernels_bench', which is not in " +
                        folder_.string()));
  EXPECT_THAT(bench.text, HasSubstr("hint: it is built where libbenchmark-dev is installed"));
  EXPECT_THAT(run("gallery out").text, HasSubstr("libpng-dev"));
  const auto nothing = run("bench");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.text, HasSubstr("'miniapp bench' wants to know what\nhint: one of: kernels"));
  EXPECT_THAT(run("bench kernel").text, HasSubstr("did you mean 'kernels'?"));
}

}  // namespace
}  // namespace miniapps::cli
