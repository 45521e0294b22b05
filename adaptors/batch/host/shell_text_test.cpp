#include "adaptors/batch/host/shell_text.hpp"

#include <gtest/gtest.h>

#include <random>

#include "pilot/proc/command_run.hpp"

namespace pilot::adaptors::host {
namespace {

// What a shell makes of a script, with three variables set.
std::string shell(const std::string& script) {
  model::Command command;
  command.argv = {"/bin/bash", "-s"};
  command.env = {{"HOME", "/home/a b"}, {"X", "x $HOME `y`"}, {"TMPDIR", "/t m/p"}};
  command.directory = "/";
  const auto answer = proc::run_command(command, std::chrono::seconds(20), script);
  EXPECT_TRUE(answer.has_value() && answer.value().succeeded())
      << (answer.has_value() ? answer.value().complaint("bash") : answer.error().text()) << "\n"
      << script;
  return answer.has_value() ? answer.value().out : "";
}

// Names as nobody should use them, beginning with the worst ones we could think of.
std::vector<std::string> nasty_words(unsigned count) {
  std::vector<std::string> words{"",          "plain",    "with space", "'",     "\"",  "\\",
                                 "$HOME",     "${X}",     "`id`",       "$(id)", "a;b", "-n",
                                 "--",        "*?[a]{b}", "~",          "~/x",   "#c",  "tab\there",
                                 "new\nline", "!!",       "\\'\"$X",    "é ü",   "%j",  "a'b'c"};
  const std::string characters = "ab'\"\\$`;&|<>(){}[]*?~#! \t\n%=^-,.:@/X";
  std::mt19937 random(4711);
  while (words.size() < count) {
    std::string word(random() % 12, ' ');
    for (char& c : word) c = characters[random() % characters.size()];
    words.push_back(word);
  }
  return words;
}

TEST(ShellTextTest, PlainWordsStayReadable) {
  EXPECT_EQ(shell_word("/opt/pilot-1.0/bin/x_y,z"), "/opt/pilot-1.0/bin/x_y,z");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellTextTest, AShellGivesBackEveryWord) {
  const auto words = nasty_words(800);
  std::string script, expected;
  for (const std::string& word : words) {
    script += "printf '%s\\0' " + shell_word(word) + "\n";
    expected += word + '\0';
  }
  EXPECT_EQ(shell(script), expected);
}

TEST(ShellTextTest, PathsKnowVariablesAndNothingElse) {
  const auto path = [](const std::string& text) { return shell("printf '%s' " + shell_path(text)); };
  EXPECT_EQ(path("$TMPDIR/x"), "/t m/p/x");
  EXPECT_EQ(path("${TMPDIR}x"), "/t m/px");
  EXPECT_EQ(path("~/x"), "/home/a b/x");
  EXPECT_EQ(path("~"), "/home/a b");
  EXPECT_EQ(path("~user/x"), "~user/x");
  EXPECT_EQ(path("/a$"), "/a$");
  EXPECT_EQ(path("/a$1"), "/a$1");
  EXPECT_EQ(path("/$(id)`id`\\\""), "/$(id)`id`\\\"");
  EXPECT_EQ(path("/${X:-y}"), "/${X:-y}") << "only plain variables";
  EXPECT_EQ(path("/${X"), "/${X");
  EXPECT_EQ(path("$X"), "x $HOME `y`") << "values are not looked at again";
}

// Without a '$' before a letter or brace and without '~', a path is what it says.
TEST(ShellTextTest, AShellGivesBackEveryOtherPath) {
  std::string script, expected;
  for (const std::string& word : nasty_words(800)) {
    if (word.find("$H") != std::string::npos || word.find("$X") != std::string::npos ||
        word.find("$a") != std::string::npos || word.find("$b") != std::string::npos ||
        word.find("${") != std::string::npos || word.starts_with("~"))
      continue;
    script += "printf '%s\\0' " + shell_path(word) + "\n";
    expected += word + '\0';
  }
  EXPECT_EQ(shell(script), expected);
}

TEST(ShellTextTest, ControlCharacters) {
  EXPECT_TRUE(has_control_characters("a\nb"));
  EXPECT_TRUE(has_control_characters("\x7f"));
  EXPECT_FALSE(has_control_characters("a b é"));
}

}  // namespace
}  // namespace pilot::adaptors::host
