#include "miniapps/processors/process_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "miniapps/processors/process_metrics.hpp"

namespace miniapps::processors {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Handled block(const pilot::Clock& clock, pilot::Duration age, std::size_t worker = 0) {
  return {.outcome = Outcome::stored,
          .worker = worker,
          .bytes = 1'000'000,
          .result_bytes = 3'000'000,
          .busy = 100ms,
          .cpu = 90ms,
          .source_time = clock.wall() - age,
          .run_id = "aa"};
}

// Two workers, three seconds: 1, 0 and 3 messages, one of them a repeat and one a dead letter.
ProcessReport sample() {
  pilot::ManualClock clock;
  ProcessReport base;
  base.topic = "frames", base.group = "g", base.output = "out", base.algorithm = "gridrec",
  base.parallelism = 2;
  ProcessMetrics metrics(base, 2, clock);
  clock.advance(500ms);
  metrics.received();
  metrics.handled(block(clock, 20ms));
  clock.advance(2s);
  metrics.handled(block(clock, 40ms, 1));
  auto repeat = block(clock, 1h);
  repeat.outcome = Outcome::duplicate;
  metrics.handled(repeat);
  metrics.handled({.outcome = Outcome::dead_letter,
                   .worker = 1,
                   .bytes = 10,
                   .busy = 1ms,
                   .source_time = {},
                   .run_id = {}});
  metrics.quiet(true, false);
  clock.advance(1s);
  auto report = metrics.report(0, 5);
  report.scans.push_back({"aa", 0, "scan-aa-0.h5", "scan-aa-0-slice-1.png", 4, 4, 2});
  report.scans.push_back({"aa", 1, ".blocks/aa-1.h5", "", 4, 2, 1});
  report.ended_by = "count";
  return report;
}

TEST(ProcessReport, CountsAndRates) {
  const auto r = sample();
  EXPECT_EQ(r.messages, 4u);
  EXPECT_EQ(r.stored, 2u);
  EXPECT_EQ(r.duplicates, 1u);
  EXPECT_EQ(r.dead_letters, 1u);
  EXPECT_EQ(r.messages_per_second, (std::vector<std::uint64_t>{1, 0, 3}));
  EXPECT_DOUBLE_EQ(r.active_s, 2.0);
  EXPECT_DOUBLE_EQ(r.elapsed_s, 3.5);
  EXPECT_NEAR(r.busy_s(), 0.301, 1e-9);
  EXPECT_NEAR(r.megabytes_per_second(), 3.00001 / 2, 1e-9);
  EXPECT_NEAR(r.pa_per_worker(), 4 / 0.301, 1e-9);
  EXPECT_NEAR(r.pa(), 2 * 4 / 0.301, 1e-9);
  EXPECT_EQ(r.latency.count(), 2u) << "the repeat's hour is left out";
  EXPECT_EQ(r.latency.max(), 40ms);
}

TEST(ProcessReport, JsonGoesThereAndBack) {
  const auto r = sample();
  for (bool indented : {false, true}) {
    const auto back = parse_process_report(to_json(r, indented));
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_EQ(to_json(back.value(), indented), to_json(r, indented));
  }
  EXPECT_THAT(to_json(r, false), Not(HasSubstr("\n")));
  const auto json = nlohmann::json::parse(to_json(r, false));
  EXPECT_EQ(json["schema"], "miniapp.process/1");
  EXPECT_NEAR(json["latency_ms"]["p99"].get<double>(), 40, 1.3);
  EXPECT_EQ(json["scans"][1]["complete"], false);
}

TEST(ProcessReport, RefusesOtherJsonWithTheReason) {
  EXPECT_THAT(parse_process_report("{").error().message, HasSubstr("parse error"));
  EXPECT_THAT(parse_process_report("{}").error().message, HasSubstr("its schema is ''"));
  EXPECT_THAT(parse_process_report("[1]").error().message, HasSubstr("no report of 'miniapp process'"));
  EXPECT_THAT(parse_process_report(R"({"schema":"miniapp.process/1"})").error().message,
              HasSubstr("'topic'"));
  auto text = to_json(sample(), false);
  text.replace(text.find("\"messages\":4"), 12, "\"messages\":\"\"");
  EXPECT_FALSE(parse_process_report(text).has_value());
}

TEST(ProcessReport, MergeAddsUpProcesses) {
  auto whole = ProcessReport{};
  const auto part = sample();
  whole.started_unix_ms = part.started_unix_ms - 2000;
  whole.idle_s = 1e9;
  whole.merge(part, "0");
  whole.merge(part, "1");
  EXPECT_EQ(whole.messages, 8u);
  EXPECT_EQ(whole.latency.count(), 4u);
  EXPECT_EQ(whole.messages_per_second, (std::vector<std::uint64_t>{0, 0, 2, 0, 6})) << "by wall clock";
  ASSERT_EQ(whole.workers.size(), 4u);
  EXPECT_EQ(whole.workers[3].name, "1.1");
  EXPECT_DOUBLE_EQ(whole.idle_s, 1.0);
  EXPECT_EQ(whole.runs, std::set<std::string>{"aa"});
}

TEST(ProcessReport, ProgressSaysWhatIsUnusual) {
  auto r = sample();
  EXPECT_EQ(progress_line(r, 2, 0, 0),
            "4 messages, 2.0/s, 1.5 MB/s, p50 20.2 ms, 5 waiting, 1 repeated, 1 dead letters");
  EXPECT_EQ(progress_line({.topic = "frames", .elapsed_s = 7}, 0, 0, 10),
            "waiting for messages of topic 'frames' for 7 s");
  EXPECT_THAT(progress_line(r, 2, 3, 10), HasSubstr("3 of 10 blocks"));
  const auto json = nlohmann::json::parse(progress_json(r, 2));
  EXPECT_EQ(json["event"], "progress");
  EXPECT_EQ(json["messages"], 4);
  EXPECT_EQ(json["lag"], 5);
}

TEST(ProcessReport, TableNamesRatesLatencyWorkersAndScans) {
  const auto table = report_table(sample());
  for (const char* part : {"Processed topic 'frames' as group 'g'", "1.5 MB/s", "processing ability", "p95",
                           "Scans in out: 1 complete, 1 not", "scan-aa-0-slice-1.png", "in out/dead-letters"})
    EXPECT_THAT(table, HasSubstr(part));
  EXPECT_THAT(report_table(ProcessReport{}), Not(HasSubstr("nan")));
}

TEST(ProcessMetrics, IsIdleOnlyWhenNothingIsLeftAndNothingInWork) {
  pilot::ManualClock clock;
  ProcessMetrics metrics({}, 1, clock, 15s);
  clock.advance(10s);
  EXPECT_EQ(metrics.report(0, 0).idle_s, 0) << "still joining";
  metrics.joined();
  clock.advance(3s);
  metrics.quiet(true, false);
  EXPECT_EQ(metrics.report(0, 0).idle_s, 3);
  metrics.received();
  clock.advance(3s);
  EXPECT_EQ(metrics.report(1, 0).idle_s, 0) << "in work";
  metrics.handled(block(clock, 1ms));
  clock.advance(3s);
  EXPECT_EQ(metrics.report(0, 0).idle_s, 0) << "not known to be at the end";
  metrics.quiet(false, false);
  EXPECT_EQ(metrics.report(0, 0).idle_s, 0);
  metrics.quiet(true, false);
  EXPECT_EQ(metrics.report(0, 0).idle_s, 3);
}

}  // namespace
}  // namespace miniapps::processors
