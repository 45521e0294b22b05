#include "adaptors/batch/slurm/directives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "adaptors/batch/host/dialect_input.hpp"
#include "adaptors/batch/slurm/slurm_dialect.hpp"

namespace pilot::adaptors::slurm {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

using host::test::request;

std::vector<std::string> lines(const plugin::AllocationRequest& wish) {
  std::vector<std::string> all;
  for (const auto& directive : directives_of(wish)) all.push_back(directive.text);
  return all;
}

TEST(DirectivesTest, WholeNodesByDefault) {
  EXPECT_THAT(
      lines(request()),
      testing::ElementsAre("#SBATCH --job-name=pilot-demo", "#SBATCH --comment=\"pilot 0123456789 a0\"",
                           "#SBATCH --nodes=2", "#SBATCH --ntasks-per-node=1", "#SBATCH --exclusive",
                           "#SBATCH --mem=0", "#SBATCH --no-kill", "#SBATCH --no-requeue",
                           "#SBATCH --signal=B:USR1@60", "#SBATCH --export=ALL",
                           "#SBATCH --output=/home/u/pilots/demo/logs/a0.log", "#SBATCH --open-mode=append"));
}

TEST(DirectivesTest, PartsOfNodes) {
  auto wish = request();
  wish.spec.cores_per_node = 3;
  wish.spec.memory_per_node = Bytes{(1 << 30) + 1};
  wish.spec.walltime = std::chrono::seconds(61);
  EXPECT_THAT(lines(wish), testing::IsSupersetOf(
                               {"#SBATCH --cpus-per-task=3", "#SBATCH --mem=1025M", "#SBATCH --time=2"}));
  EXPECT_THAT(lines(wish), Not(Contains("#SBATCH --exclusive")));
  wish.spec.batch["exclusive"] = "true";
  EXPECT_THAT(lines(wish), Contains("#SBATCH --exclusive"));
}

// Slurm's signal may come two minutes before the end, when an extension is not given back yet.
TEST(DirectivesTest, TheScriptsOwnClockWarnsWhereTheTimeIsKnown) {
  auto wish = request();
  EXPECT_EQ(SlurmDialect().script(wish).warning_after, std::nullopt);
  wish.spec.walltime = std::chrono::minutes(2);
  EXPECT_EQ(SlurmDialect().script(wish).warning_after, std::chrono::seconds(90));
  EXPECT_THAT(lines(wish), Not(Contains(StartsWith("#SBATCH --signal"))));
}

TEST(DirectivesTest, OptionsBecomeDirectives) {
  auto wish = request();
  wish.spec.batch = {{"queue", "debug"},     {"account", "proj-1"}, {"qos", "high"},
                     {"constraint", "a&b"},  {"gres", "gpu:2"},     {"gpus", "1"},
                     {"reservation", "r x"}, {"mail", "me@here"},   {"mem", "3G"}};
  EXPECT_THAT(lines(wish),
              testing::IsSupersetOf({"#SBATCH --partition=debug", "#SBATCH --account=proj-1",
                                     "#SBATCH --qos=high", "#SBATCH --constraint=\"a&b\"",
                                     "#SBATCH --gres=gpu:2", "#SBATCH --gpus-per-node=1",
                                     "#SBATCH --reservation=\"r x\"", "#SBATCH --mail-user=me@here",
                                     "#SBATCH --mail-type=BEGIN,END,FAIL", "#SBATCH --mem=3G"}));
  EXPECT_THAT(lines(wish), Not(Contains("#SBATCH --mem=0")));
}

// sbatch would put a job's id in place of %j.
TEST(DirectivesTest, PercentInAPathIsAPercent) {
  auto wish = request();
  wish.pilot_dir = "/home/100%j/%%x";
  EXPECT_THAT(lines(wish), Contains("#SBATCH --output=/home/100%%j/%%%%x/logs/a0.log"));
}

TEST(DirectivesTest, ChecksOptions) {
  model::PilotSpec spec;
  spec.batch["exclusive"] = "maybe";
  EXPECT_EQ(check_directives(spec).error().text(), "batch.exclusive must be true or false, not 'maybe'");
  spec.batch = {{"skip", "mem exclusive time signal partition"}};
  EXPECT_TRUE(check_directives(spec).has_value());
  spec.batch = {{"skip", "memory"}};
  EXPECT_THAT(check_directives(spec).error().message, StartsWith("batch.skip: pilot writes no directive"));
}

// All that directives_of() may write can be skipped.
TEST(DirectivesTest, EveryDirectiveCanBeSkipped) {
  auto wish = request();
  wish.spec.cores_per_node = 1;
  wish.spec.walltime = std::chrono::hours(1);
  for (const auto& option : directive_options()) wish.spec.batch[option.name] = "true";
  for (const auto& directive : directives_of(wish)) {
    model::PilotSpec spec;
    spec.batch["skip"] = directive.name;
    EXPECT_TRUE(check_directives(spec).has_value()) << directive.name;
  }
}

// How sbatch 22.05 takes a directive apart, as tried with --comment on the real one: within "", a
// backslash takes the next character as it is; outside of it a blank ends the word.
std::string as_sbatch_reads(std::string_view word) {
  std::string value;
  bool quoted = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 1 < word.size()) {
      value += word[++i];
    } else if (word[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (word[i] == ' ' || word[i] == '#' || word[i] == '\'')) {
      return "(ends at " + std::string(word.substr(i)) + ")";
    } else {
      value += word[i];
    }
  }
  return quoted ? "(no end)" : value;
}

TEST(SbatchWordTest, EveryWordComesThrough) {
  EXPECT_EQ(sbatch_word("plain/x-1.0,y=z"), "plain/x-1.0,y=z");
  EXPECT_EQ(sbatch_word("a \"b\" \\c #d $e 'f'"), "\"a \\\"b\\\" \\\\c #d $e 'f'\"");
  const std::string characters = "ab '\"\\$`#;&|%=-/";
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::string word(random() % 10, ' ');
    for (char& c : word) c = characters[random() % characters.size()];
    ASSERT_EQ(as_sbatch_reads(sbatch_word(word)), word);
  }
}

}  // namespace
}  // namespace pilot::adaptors::slurm
