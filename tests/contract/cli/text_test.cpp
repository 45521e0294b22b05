// Help, completion, man pages, plans and settings: the text and documents that need no pilot.
#include <unistd.h>

#include "tests/contract/cli/run_pilot.hpp"

namespace pilot::contract {
namespace {

class Text : public PilotTest {
 protected:
  // The text that was approved; PILOT_UPDATE_GOLDEN=1 approves what is.
  static void equals_golden(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(PILOT_SOURCE_DIR) / "tests/contract/cli/golden" / name;
    if (std::getenv("PILOT_UPDATE_GOLDEN") != nullptr) {
      EXPECT_TRUE(write_file(path, text).has_value());
    }
    const auto golden = read_file(path);
    ASSERT_TRUE(golden.has_value()) << golden.error().text();
    EXPECT_EQ(text, golden.value()) << path;
  }
};

TEST_F(Text, Help) {
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  equals_golden("help.txt", help.out);
  equals_golden("help_start.txt", run({"start", "--help"}).out);
  EXPECT_EQ(run({"help", "start"}).out, run({"start", "-h"}).out);
  equals_golden("help_states.txt", run({"help", "states"}).out);
  equals_golden("help_exit_codes.txt", run({"help", "exit-codes"}).out);
  refuses(2, "pilot: there is no help on 'sates'\nhint: did you mean 'states'?\n", {"help", "sates"});
}

TEST_F(Text, NoCommandIsUsage) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"--version"}).out, run({"version"}).out);
  EXPECT_EQ(run({"version", "--json"}).json()["schema"], "pilot.version/1");
}

TEST_F(Text, CompletionInBash) {
  const std::string script = "PATH=" PILOT_BINARY_DIR
                             "/bin:$PATH; eval \"$(pilot completion bash)\"; "
                             "ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _pilot pilot \"${@: "
                             "-1}\"; echo \"${COMPREPLY[*]}\"; }; "
                             "ask pilot sta; ask pilot start --framework ''; ask pilot start --enc; ask "
                             "pilot frameworks ''; ask pilot zzz";
  const Outcome outcome = run_program("/bin/bash", {"-c", script});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "start status\nkafka\n--encrypt\nlist install\n\n");
}

TEST_F(Text, CompletionForEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run({"completion", shell});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out.find("pilot __complete"), std::string::npos) << shell;
  }
  refuses(2, "pilot: SHELL can't be 'bsh'\nhint: did you mean 'bash'?\n", {"completion", "bsh"});
}

TEST_F(Text, ManPages) {
  const Outcome outcome = run({"man", (work / "man").string()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  int pages = 0;
  for (const auto& page : std::filesystem::directory_iterator(work / "man")) {
    ++pages;
    const std::string text = read_file(page.path()).value();
    EXPECT_TRUE(text.starts_with(".TH ")) << page.path();
    EXPECT_NE(text.find("\n.SH SYNOPSIS\n"), std::string::npos) << page.path();
  }
  EXPECT_GT(pages, 15);
  EXPECT_TRUE(std::filesystem::exists(work / "man/pilot-frameworks-install.1"));
}

TEST_F(Text, ADryRunStartsNothing) {
  const Outcome outcome =
      run({"start", "demo", "--nodes", "3", "--framework", "kafka", "--dry-run", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = outcome.json();
  ASSERT_TRUE(document.is_object()) << outcome.out;
  EXPECT_EQ(document["schema"], "pilot.plan/1");
  EXPECT_EQ(document["plans"][0]["framework"], "kafka");
  EXPECT_EQ(document["plans"][0]["services"].size(), 4u);
  EXPECT_NE(document["script"].get<std::string>().find("--rank 2"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(work / "home/pilots/demo"));
  const Outcome text = run({"start", "demo", "--framework", "kafka", "--dry-run"});
  EXPECT_NE(text.out.find("kafka/broker-1"), std::string::npos) << text.out;
}

TEST_F(Text, SettingsWithTheirOrigin) {
  write("pilot.yaml", "nodes: 2\n");
  environment["PILOT_NODE__CORES"] = "4";
  const Outcome outcome = run({"config", "show", "--json", "--memory", "1G"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::map<std::string, std::string> origins;
  const auto document = outcome.json();
  for (const auto& setting : document["settings"]) origins[setting["key"]] = setting["origin"];
  EXPECT_EQ(origins["nodes"], "pilot.yaml:1:8");
  EXPECT_EQ(origins["node.cores"], "PILOT_NODE__CORES");
  EXPECT_EQ(origins["node.memory"], "--memory");
  EXPECT_EQ(origins["resource"], "default");
  equals_golden("config_explain.txt", run({"config", "explain"}).out);
}

TEST_F(Text, FrameworksAreListed) {
  const Outcome outcome = run({"frameworks", "list", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["schema"], "pilot.frameworks/1");
  const auto kafka = outcome.json()["frameworks"][0];
  EXPECT_EQ(kafka["name"], "kafka");
  EXPECT_EQ(kafka["state"], "missing");
  EXPECT_EQ(kafka["home_variable"], "KAFKA_HOME");
  EXPECT_FALSE(kafka["options"].empty());
}

TEST_F(Text, DoctorLooks) {
  const Outcome outcome = run({"doctor", "--json"});
  EXPECT_EQ(outcome.json()["schema"], "pilot.doctor/1") << outcome.err;
  EXPECT_GT(outcome.json()["checks"].size(), 8u);
}

// Every example is read, and can be planned.
TEST_F(Text, ExamplesAreGood) {
  int specs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PILOT_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string text = read_file(entry.path()).value();
    if (text.find("\npilot:") != std::string::npos) continue;  // a scenario
    ++specs;
    const Outcome outcome = run({"start", "-f", entry.path(), "--dry-run"});
    EXPECT_EQ(outcome.code, 0) << entry.path() << outcome.err;
  }
  EXPECT_GE(specs, 3);
}

}  // namespace
}  // namespace pilot::contract
