#include "pilot/core/scenario_step.hpp"

#include <gtest/gtest.h>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::core {
namespace {

TEST(StepProgress, IsReadFromItsLines) {
  const auto source = parse_step_progress(
      StepKind::source,
      R"({"event":"progress","acked":20,"acked_bytes":100,"sent":22,"wanted":160,"rate":19.5,"lag":0.1,"elapsed":1.0})");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->done, 20u);
  EXPECT_EQ(source->wanted, 160u);
  EXPECT_EQ(source->rate, 19.5);
  const auto processor = parse_step_progress(
      StepKind::processor,
      R"({"event":"progress","elapsed_s":6.6,"messages":120,"stored":115,"duplicates":3,"dead_letters":2,"rate":29.8,"lag":4})");
  ASSERT_TRUE(processor.has_value());
  EXPECT_EQ(processor->done, 117u);
  EXPECT_EQ(processor->lag, 4);
}

TEST(StepProgress, OtherLinesAreNone) {
  for (const char* line : {"", "note: x", "{", "{}", "[1]", R"({"event":"other"})", R"({"event":1})",
                           R"({"event":"progress","acked":"many"})", R"({"event":"progress","acked":{}})"})
    EXPECT_FALSE(parse_step_progress(StepKind::source, line).has_value()) << line;
}

TEST(StepReport, GivesTheAccount) {
  const auto source = parse_step_report(
      StepKind::source,
      R"({"schema":"miniapp.source/1","run_id":"ab","acked":32,"acked_bytes":640,"seconds":1.5})");
  ASSERT_TRUE(source.has_value()) << source.error().text();
  EXPECT_EQ(source.value().acknowledged, 32u);
  EXPECT_EQ(source.value().runs, std::set<std::string>{"ab"});
  const auto processor = parse_step_report(StepKind::processor,
                                           R"({"bytes":640,"active_s":2.0,"dead_letters":1,"scans":[
          {"run_id":"ab","scan_id":0,"blocks":16,"picture":"a.png"},
          {"run_id":"ab","scan_id":1,"blocks":15,"picture":""}]})");
  ASSERT_TRUE(processor.has_value()) << processor.error().text();
  EXPECT_EQ(processor.value().blocks.at({"ab", 1}), 15u);
  EXPECT_EQ(processor.value().pictures, std::vector<std::string>{"a.png"});
  EXPECT_EQ(processor.value().dead_letters, 1u);
}

TEST(StepReport, RefusesWhatIsNone) {
  for (const char* text : {"", "{}", "[]", R"({"acked":-})", R"({"acked":"x","acked_bytes":1})"})
    EXPECT_FALSE(parse_step_report(StepKind::source, text).has_value()) << text;
}

// A mini-app that behaves as told by its flags.
class ScenarioStepRunTest : public testing::Test {
 protected:
  ScenarioStepRunTest() {
    EXPECT_TRUE(make_directory(folder).has_value());
    EXPECT_TRUE(write_file(folder / "miniapp", R"(#!/bin/sh
echo "$@" > ")" + (folder / "called").string() + R"("
case "$*" in
  *--broken*) echo 'miniapp: the detector is on fire' >&2; echo 'hint: water' >&2; exit 3 ;;
esac
trap 'echo "{\"bytes\":1,\"active_s\":1,\"dead_letters\":0,\"scans\":[]}"; echo "a table" >&2; exit 130' INT
echo '{"event":"progress","stored":7,"dead_letters":0,"rate":1.0,"lag":0}' >&2
while :; do sleep 0.05; done
)",
                           0700)
                    .has_value());
  }
  ~ScenarioStepRunTest() override { EXPECT_TRUE(remove_tree(folder).has_value()); }

  Result<ScenarioStepRun> start(StepKind kind, config::ScenarioStep step) {
    return ScenarioStepRun::start(kind, step, {folder / "miniapp", "demo", folder / "out", folder, "step-1"});
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-step-" + random_hex(6));
};

TEST_F(ScenarioStepRunTest, FollowsProgressAndTakesTheReport) {
  auto run = start(StepKind::processor, {"gridrec", {{"parallelism", "2"}}, ""});
  ASSERT_TRUE(run.has_value()) << run.error().text();
  const Deadline deadline(system_clock(), std::chrono::seconds(10));
  while (run.value().progress().done != 7 && !deadline.passed())
    run.value().wait_for_end(std::chrono::milliseconds(20));
  EXPECT_EQ(run.value().progress().done, 7u);
  EXPECT_EQ(read_file(folder / "called").value(),
            "process gridrec --parallelism 2 --pilot demo --progress json --json "
            "--output " +
                (folder / "out").string() + "\n");
  run.value().interrupt();
  ASSERT_TRUE(run.value().wait_for_end(std::chrono::seconds(10)));
  EXPECT_TRUE(run.value().succeeded());
  EXPECT_TRUE(run.value().report().has_value());
  EXPECT_EQ(run.value().table(), "step-1 (gridrec)\na table\n\n");
}

TEST_F(ScenarioStepRunTest, AFailureHasTheMiniAppsWords) {
  auto run = start(StepKind::source, {"light", {{"broken", "true"}}, ""});
  ASSERT_TRUE(run.has_value());
  ASSERT_TRUE(run.value().wait_for_end(std::chrono::seconds(10)));
  EXPECT_FALSE(run.value().succeeded());
  EXPECT_EQ(run.value().failure().text(),
            "step-1 (light) failed: miniapp: the detector is on fire; all it said: " +
                (folder / "step-1.log").string());
}

}  // namespace
}  // namespace pilot::core
