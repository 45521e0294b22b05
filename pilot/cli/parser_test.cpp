#include "pilot/cli/parser.hpp"

#include <gtest/gtest.h>

#include "pilot/cli/completion.hpp"
#include "pilot/cli/help.hpp"

namespace pilot::cli {
namespace {

class CommandLine : public testing::Test {
 protected:
  CommandLine() {
    root = Command{"prog", "A program"};
    root.options = {{"--json", "", "JSON", &json}, {"-v,--verbose", "", "more", &verbose}};
    Command start{"start", "Start it"};
    start.examples = {"prog start x"};
    start.description = "It starts.";
    start.arguments = {{"NAME", "what", &name, true, {}, Completes::pilots}};
    start.options = {{"-N,--nodes", "N", "how many", &nodes},
                     {"--framework", "NAME", "which", &frameworks, {}, Completes::frameworks},
                     {"-f,--file", "FILE", "from", &file, {}, Completes::files},
                     {"--color", "WHEN", "colour", &colour, {"auto", "never"}}};
    start.run = []() -> Result<int> { return 0; };
    Command list{"list", "List"};
    list.run = []() -> Result<int> { return 0; };
    Command group{"config", "Settings"};
    group.commands = {list};
    Command hidden{"__hidden", "Hidden"};
    hidden.arguments = {{"WORDS", "words", &words}};
    hidden.hidden = true;
    hidden.run = []() -> Result<int> { return 0; };
    root.commands = {start, list, group, hidden};
  }

  std::string message(const std::vector<std::string>& line) {
    name.clear();
    colour.clear();
    const auto parsed = parse(root, line);
    return parsed.has_value() ? "no error" : parsed.error().text();
  }

  std::vector<std::string> completions(const std::vector<std::string>& line) {
    return complete(root, line, {{"demo", "other"}, {"local"}, {"kafka"}}).words;
  }

  Command root;
  bool json = false;
  int verbose = 0;
  std::string name, nodes, file, colour;
  std::vector<std::string> frameworks, words;
};

TEST_F(CommandLine, FillsTheTargets) {
  const auto parsed =
      parse(root, {"start", "demo", "-N", "3", "--framework", "kafka", "--framework=spark", "--json", "-vv"});
  ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
  EXPECT_EQ(parsed.value().command().name, "start");
  EXPECT_EQ(name, "demo");
  EXPECT_EQ(nodes, "3");
  EXPECT_EQ(frameworks, (std::vector<std::string>{"kafka", "spark"}));
  EXPECT_TRUE(json);
  EXPECT_EQ(verbose, 2);
}

TEST_F(CommandLine, TheLastValueWinsAndADashDashEndsOptions) {
  ASSERT_TRUE(parse(root, {"start", "-N", "3", "-N", "4", "--", "-odd"}).has_value());
  EXPECT_EQ(nodes, "4");
  EXPECT_EQ(name, "-odd");
  ASSERT_TRUE(parse(root, {"__hidden", "--", "start", "--nodes", ""}).has_value());
  EXPECT_EQ(words, (std::vector<std::string>{"start", "--nodes", ""}));
}

TEST_F(CommandLine, AnEmptyWordIsNoDefault) {
  EXPECT_EQ(message({"start", "x", "-N", ""}), "--nodes must not be empty; 'prog start --help' explains it");
  EXPECT_EQ(message({"start", "x", "--framework", "a", "--framework", ""}),
            "--framework must not be empty; 'prog start --help' explains it");
  EXPECT_EQ(message({"start", ""}), "NAME must not be empty; 'prog start --help' explains it");
}

TEST_F(CommandLine, AnArgumentMayBeCalledLikeACommand) {
  const auto parsed = parse(root, {"start", "list", "--json"});
  ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
  EXPECT_EQ(parsed.value().command().name, "start");
  EXPECT_EQ(name, "list");
  EXPECT_TRUE(json);
}

TEST_F(CommandLine, AnOptionTakesOneValue) {
  ASSERT_TRUE(parse(root, {"start", "--framework", "kafka", "demo"}).has_value());
  EXPECT_EQ(frameworks, std::vector<std::string>{"kafka"});
  EXPECT_EQ(name, "demo");
  ASSERT_TRUE(parse(root, {"start", "demo", "--nodes", "-2"}).has_value());
  EXPECT_EQ(nodes, "-2");
}

TEST_F(CommandLine, MessagesSaySuggestions) {
  EXPECT_EQ(message({"strat"}), "there is no command 'prog strat'; did you mean 'start'?");
  EXPECT_EQ(message({"config", "lits"}), "there is no command 'prog config lits'; did you mean 'list'?");
  EXPECT_EQ(message({"start", "x", "--ndoes", "3"}),
            "'prog start' has no flag '--ndoes'; did you mean '--nodes'?");
  EXPECT_EQ(message({"start", "x", "--ndoes=3"}),
            "'prog start' has no flag '--ndoes'; did you mean '--nodes'?");
  EXPECT_EQ(message({"start", "x", "--jsno"}), "'prog start' has no flag '--jsno'; did you mean '--json'?");
  EXPECT_EQ(message({"start", "x", "-z"}), "'prog start' has no flag '-z'; 'prog start --help' explains it");
  EXPECT_EQ(message({"start", "x", "--nodes"}), "--nodes needs a value; 'prog start --help' explains it");
  EXPECT_EQ(message({"start"}), "'prog start' needs NAME; 'prog start --help' explains it");
  EXPECT_EQ(message({"start", "x", "y"}),
            "'prog start' takes no further argument, but 'y' was given; 'prog start --help' explains it");
  EXPECT_EQ(message({"start", "x", "--color", "neverr"}), "--color can't be 'neverr'; did you mean 'never'?");
  EXPECT_EQ(message({"config"}), "'prog config' needs a command; one of: list");
}

TEST_F(CommandLine, HelpNeedsNoArguments) {
  for (const char* flag : {"-h", "--help"}) {
    const auto parsed = parse(root, {"start", flag});
    ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
    EXPECT_TRUE(parsed.value().help);
    EXPECT_EQ(path_text(parsed.value().path), "prog start");
  }
}

TEST_F(CommandLine, HelpHasExamplesFirst) {
  EXPECT_EQ(help_text({&root, &root.commands[0]}), R"(Start it

Examples:
  prog start x

usage: prog start [OPTION]... NAME

It starts.

Arguments:
  NAME  what

Options:
  -N, --nodes N         how many
      --framework NAME  which
  -f, --file FILE       from
      --color WHEN      colour (auto, never)

'pilot --help' lists the options that all commands have.
)");
  EXPECT_EQ(help_text({&root}).find("__hidden"), std::string::npos);
}

TEST_F(CommandLine, AManPagePerCommand) {
  const auto pages = man_pages(root);
  std::vector<std::string> files;
  for (const ManPage& page : pages) files.push_back(page.file);
  EXPECT_EQ(files, (std::vector<std::string>{"prog.1", "prog-start.1", "prog-list.1", "prog-config.1",
                                             "prog-config-list.1"}));
  EXPECT_NE(pages[1].text.find(".SH EXAMPLES\n.nf\nprog start x\n.fi\n"), std::string::npos) << pages[1].text;
  EXPECT_NE(pages[1].text.find(".B \\-N, \\-\\-nodes N\nhow many\n"), std::string::npos) << pages[1].text;
}

TEST_F(CommandLine, CompletesCommandsFlagsAndNames) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(completions({}), (Words{"start", "list", "config"}));
  EXPECT_EQ(completions({""}), (Words{"start", "list", "config"}));
  EXPECT_EQ(completions({"st"}), (Words{"start"}));
  EXPECT_EQ(completions({"config", ""}), (Words{"list"}));
  EXPECT_EQ(completions({"start", ""}), (Words{"demo", "other"}));
  EXPECT_EQ(completions({"start", "o"}), (Words{"other"}));
  EXPECT_EQ(completions({"start", "demo", ""}), Words{});
  EXPECT_EQ(completions({"start", "--f"}), (Words{"--framework", "--file"}));
  EXPECT_EQ(completions({"start", "--framework", ""}), (Words{"kafka"}));
  EXPECT_EQ(completions({"start", "--nodes", "3", ""}), (Words{"demo", "other"}));
  EXPECT_EQ(completions({"start", "--color", ""}), (Words{"auto", "never"}));
  EXPECT_EQ(completions({"--json", "start", "d"}), (Words{"demo"}));
  EXPECT_EQ(complete(root, {"start", "-f", ""}, {}).files, Completes::files);
}

}  // namespace
}  // namespace pilot::cli
