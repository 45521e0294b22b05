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
  EXPECT_EQ(run({"help", "unheard-of"}).err.find("__complete"), std::string::npos);
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

// Every profile makes a script for its system, with what it says in it.
TEST_F(Text, EverySiteMakesAScript) {
  const Outcome listed = run({"config", "sites", "--json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto document = listed.json();
  EXPECT_EQ(document["schema"], "pilot.sites/1");
  EXPECT_GE(document["sites"].size(), 10u);
  for (const auto& site : document["sites"]) {
    const std::string name = site["name"];
    EXPECT_FALSE(site["guides"].empty()) << name;
    EXPECT_FALSE(site["title"].get<std::string>().empty()) << name;
    EXPECT_EQ(site["seen"].get<std::string>().size(), 7u) << name;
    const Outcome dry = run({"start", "x", "--site", name, "-N", "2", "-t", "1h", "-A", "proj", "--dry-run"});
    ASSERT_EQ(dry.code, 0) << name << ": " << dry.err;
    const bool slurm = site["settings"]["resource"] == "slurm";
    const auto has = [&](const std::string& line) { return dry.out.find(line) != std::string::npos; };
    EXPECT_TRUE(has(slurm ? "\n#SBATCH --nodes=2\n" : "\n#PBS -l select=2")) << name;
    EXPECT_TRUE(has(slurm ? "\n#SBATCH --account=proj\n" : "\n#PBS -A proj\n")) << name;
    if (site["settings"].contains("batch.queue")) {
      const std::string queue = site["settings"]["batch.queue"];
      EXPECT_TRUE(has(slurm ? "--partition=" + queue + "\n" : "\n#PBS -q " + queue + "\n")) << name;
    }
    if (site["settings"].contains("batch.extra")) {
      EXPECT_TRUE(has("\n#PBS " + site["settings"]["batch.extra"].get<std::string>() + "\n")) << name;
    }
  }
  const Outcome frontera = run({"start", "x", "--site", "frontera", "--dry-run"});
  EXPECT_EQ(frontera.out.find("#SBATCH --mem="), std::string::npos)
      << "a job that asks for memory is refused there";
  EXPECT_NE(run({"config", "sites", "polaris"}).out.find("batch.extra: -l filesystems="), std::string::npos);
  refuses(2, "pilot: --site: there is no profile of a site 'fontera'\nhint: did you mean 'frontera'?\n",
          {"start", "x", "--site", "fontera", "--dry-run"});
}

// The flags of sbatch mean what they mean to sbatch.
TEST_F(Text, BatchFlags) {
  const Outcome slurm = run({"start",
                             "x",
                             "-r",
                             "slurm",
                             "-N",
                             "2",
                             "-n",
                             "7",
                             "-t",
                             "90m",
                             "-p",
                             "debug",
                             "-A",
                             "me",
                             "--qos",
                             "high",
                             "--constraint",
                             "a&b",
                             "--gres",
                             "gpu:2",
                             "--gpus",
                             "1",
                             "--mem",
                             "3G",
                             "--exclusive",
                             "--reservation",
                             "r x",
                             "--mail",
                             "me@here",
                             "--batch",
                             "skip=signal",
                             "--batch",
                             "extra=--switches=1",
                             "--dry-run"});
  ASSERT_EQ(slurm.code, 0) << slurm.err;
  for (const char* line :
       {"--nodes=2", "--cpus-per-task=4", "--time=90", "--partition=debug", "--account=me", "--qos=high",
        "--constraint=\"a&b\"", "--gres=gpu:2", "--gpus-per-node=1", "--mem=3G", "--exclusive",
        "--reservation=\"r x\"", "--mail-user=me@here", "--switches=1"})
    EXPECT_NE(slurm.out.find(std::string("\n#SBATCH ") + line + "\n"), std::string::npos) << line;
  EXPECT_EQ(slurm.out.find("--signal"), std::string::npos);
  refuses(2, "pilot: --ntasks: 'many' is no number of cores\nhint: a whole number from 1\n",
          {"start", "x", "-n", "many", "--dry-run"});
  refuses(2, "pilot: --batch: 'skip' is not of the form KEY=VALUE\nhint: for example skip=mem\n",
          {"start", "x", "--batch", "skip", "--dry-run"});
}

TEST_F(Text, InABatchJobItsNodesAreUsedAndThatIsSaid) {
  environment["SLURM_JOB_ID"] = "77";
  const Outcome here = run({"start", "x", "--dry-run"});
  EXPECT_EQ(here.code, 0) << here.err;
  EXPECT_NE(here.err.find("this runs in a batch job (SLURM_JOB_ID): its nodes are used"), std::string::npos)
      << here.err;
  EXPECT_NE(here.out.find("SLURM_JOB_NODELIST"), std::string::npos);
  EXPECT_EQ(here.out.find("#SBATCH"), std::string::npos) << "nothing is submitted";
  const Outcome other = run({"start", "x", "--resource", "local", "--dry-run"});
  EXPECT_EQ(other.err.find("batch job"), std::string::npos);
}

TEST_F(Text, ValidatingStartsNothing) {
  const Outcome valid = run({"start", "x", "--nodes", "2", "--validate"});
  EXPECT_EQ(valid.code, 0) << valid.err;
  EXPECT_NE(valid.out.find("this machine has "), std::string::npos) << valid.out;
  EXPECT_EQ(run({"start", "x", "--validate", "--json"}).json()["schema"], "pilot.validation/1");
  EXPECT_FALSE(std::filesystem::exists(work / "home/pilots/x"));
  EXPECT_EQ(run({"start", "x", "--nodes", "65", "--validate"}).code, 2);
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
