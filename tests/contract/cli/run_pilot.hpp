// Runs the real `pilot` with a home of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::contract {

struct Outcome {
  int code = -1;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

class PilotTest : public testing::Test {
 protected:
  PilotTest() {
    EXPECT_TRUE(make_directory(work / "tmp").has_value());
    environment = {{"PILOT_HOME", (work / "home").string()},
                   {"XDG_CONFIG_HOME", (work / "config").string()},
                   {"XDG_CACHE_HOME", (work / "cache").string()},
                   {"TMPDIR", (work / "tmp").string()},
                   {"PILOT_SOFTWARE", (work / "software").string()},
                   {"PILOT_SOURCE_DIR", PILOT_SOURCE_DIR},
                   {"KAFKA_HOME", ""},
                   {"NO_COLOR", "1"}};
  }

  ~PilotTest() override {
    for (const std::string& name : started) {
      const Outcome stopped = run({"stop", name});
      EXPECT_TRUE(stopped.code == 0 || stopped.code == 3) << stopped.err;
    }
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(work / "tmp")) left.push_back(entry.path());
    EXPECT_EQ(left, std::vector<std::string>{}) << "left in scratch";
    EXPECT_TRUE(remove_tree(work).has_value());
  }

  Outcome run(const std::vector<std::string>& words) { return run_program(program, words); }

  Outcome run_program(const std::string& path, const std::vector<std::string>& words) {
    model::Command command;
    command.argv = {path};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env = environment;
    command.directory = work.string();
    const auto result = proc::run_command(command, std::chrono::seconds(60));
    EXPECT_TRUE(result.has_value()) << result.error().text();
    if (!result.has_value()) return {};
    EXPECT_FALSE(result.value().timed_out);
    return {result.value().status.code, result.value().out, result.value().err};
  }

  // Exit code and standard error, of a command that must print no data.
  void refuses(int code, const std::string& text, const std::vector<std::string>& words) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.err, text);
    EXPECT_EQ(outcome.out, "");
  }

  void write(const std::string& name, std::string_view text) const {
    EXPECT_TRUE(write_file(work / name, text).has_value());
  }

  // A pilot of one node without frameworks.
  void start(const std::string& name) {
    started.push_back(name);
    const Outcome outcome = run({"start", name});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  const std::string program = PILOT_BINARY_DIR "/bin/pilot";
  const std::filesystem::path work =
      std::filesystem::temp_directory_path() / ("pilot-contract-" + random_hex(6));
  std::map<std::string, std::string> environment;
  std::vector<std::string> started;
};

}  // namespace pilot::contract
