#include "miniapps/sources/light_source.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "miniapps/formats/frame.hpp"

namespace miniapps::sources {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Waiting is poll(), so time moves there; a message is acknowledged `delay` after it was sent.
class FakeProducer final : public transports::Producer {
 public:
  explicit FakeProducer(pilot::ManualClock& clock) : clock_(clock) {}

  pilot::Result<bool> send(transports::SharedBuffer message, std::string_view key,
                           std::uint64_t spread) override {
    acknowledge();
    if (under_way_.size() >= queue) return false;
    EXPECT_EQ(spread, sent_times.size());
    const auto header = formats::decode_frame(*message).value().header;
    EXPECT_EQ(header.sequence, sent_times.size());
    keys.emplace_back(key);
    scan_ids.push_back(header.scan_id);
    sent_times.push_back(clock_.steady());
    under_way_.push_back({std::move(message), clock_.steady() + delay});
    clock_.advance(cost);
    return true;
  }
  void poll(pilot::Duration limit) override {
    clock_.advance(limit);
    acknowledge();
    if (on_poll) on_poll();
  }
  pilot::Result<void> flush(pilot::Duration) override {
    if (under_way_.empty()) return pilot::ok();
    return pilot::make_error(pilot::ErrorCode::timed_out, "messages were not acknowledged");
  }
  transports::DeliveryCounts counts() const override {
    auto counts = counts_;
    counts.queued = under_way_.size();
    return counts;
  }
  std::optional<pilot::Error> failure() const override { return failure_; }

  std::size_t queue = 1000;
  pilot::Duration delay = 1ms, cost = 0ns;
  std::uint64_t fail_at = ~0ULL;  // number of the message that is refused
  std::function<void()> on_poll;
  std::vector<pilot::SteadyTime> sent_times;
  std::vector<std::string> keys;
  std::vector<std::uint64_t> scan_ids;

 private:
  void acknowledge() {
    while (!under_way_.empty() && under_way_.front().second <= clock_.steady()) {
      if (counts_.acked + counts_.failed == fail_at) {
        ++counts_.failed;
        failure_ = pilot::make_error(pilot::ErrorCode::failed, "too large", "fewer slices");
      } else {
        ++counts_.acked;
        counts_.acked_bytes += under_way_.front().first->size();
      }
      under_way_.pop_front();
    }
  }
  pilot::ManualClock& clock_;
  std::deque<std::pair<transports::SharedBuffer, pilot::SteadyTime>> under_way_;
  transports::DeliveryCounts counts_;
  std::optional<pilot::Error> failure_;
};

class LightSource : public testing::Test {
 protected:
  SourceReport run(const LightSourceOptions& options) {
    PhantomOptions phantom;
    phantom.scan.columns = 16;
    phantom.scan.angles = 4;
    phantom.scan.slices = 6;
    RunId run_id{};
    run_id.fill(0xAB);
    ScanFrames frames(make_phantom_scan(phantom), 2, pilot::Bytes{1 << 20}, run_id);
    return run_light_source(producer, frames, run_id, options, stop, clock,
                            [&](const SourceProgress& progress) { told.push_back(progress); });
  }

  pilot::ManualClock clock;
  FakeProducer producer{clock};
  std::atomic<int> stop{0};
  std::vector<SourceProgress> told;
};

TEST_F(LightSource, SendsOnScheduleAndCountsAcknowledgements) {
  const auto start = clock.steady();
  const auto report = run({.topic = "frames", .per_second = 20, .count = 200});
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.acked, 200U);
  EXPECT_EQ(report.acked_bytes, 200 * report.message_bytes);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(producer.sent_times[i], start + i * 50ms);
  EXPECT_EQ(report.max_lag, 0ns);
  EXPECT_EQ(report.blocks_per_scan, 3U);
  EXPECT_EQ(producer.scan_ids[2], 0U);
  EXPECT_EQ(producer.scan_ids[3], 1U);
  EXPECT_EQ(producer.keys[4], "1/2");
}

TEST_F(LightSource, CatchesUpAfterADelay) {
  const auto start = clock.steady();
  bool once = true;
  producer.on_poll = [&] {
    if (producer.sent_times.size() == 10 && std::exchange(once, false)) clock.advance(1s);
  };
  const auto report = run({.per_second = 20, .count = 60});
  EXPECT_EQ(producer.sent_times.back(), start + 59 * 50ms) << "the delay did not shift the schedule";
  EXPECT_GT(report.max_lag, 900ms);
  EXPECT_LE(report.max_lag, 1s);
}

TEST_F(LightSource, ShowsHowFarItIsBehind) {
  producer.cost = 100ms;  // can't do more than 10 per second
  run({.per_second = 20, .count = 100});
  EXPECT_GT(told[told.size() - 3].lag, 4s);
}

TEST_F(LightSource, WaitsWhileTheQueueIsFull) {
  producer.queue = 2;
  producer.delay = 30ms;
  const auto report = run({.count = 50});
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.acked, 50U);
}

TEST_F(LightSource, EndsWithTheDuration) {
  const auto report = run({.per_second = 10, .duration = 3s});
  EXPECT_EQ(report.sent, 30U);
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(told.back().wanted, 0U);
}

TEST_F(LightSource, WhicheverComesFirst) {
  LightSourceOptions options{.per_second = 10, .count = 1000};
  options.duration = 1s;
  const auto report = run(options);
  EXPECT_EQ(report.sent, 10U);
  EXPECT_TRUE(report.complete());
}

TEST_F(LightSource, ASignalEndsItAfterTheAcknowledgements) {
  producer.delay = 500ms;
  producer.on_poll = [&] {
    if (producer.sent_times.size() == 20) stop = 2;
  };
  const auto report = run({.per_second = 20, .count = 100});
  EXPECT_EQ(report.sent, 20U);
  EXPECT_EQ(report.acked, 20U);
  EXPECT_EQ(report.signal, 2);
  EXPECT_FALSE(report.complete());
}

TEST_F(LightSource, ARefusedMessageEndsItWithTheReason) {
  producer.fail_at = 5;
  const auto report = run({.per_second = 20, .count = 100});
  EXPECT_FALSE(report.complete());
  EXPECT_EQ(report.failed, 1U);
  EXPECT_LT(report.sent, 10U);
  EXPECT_EQ(report.acked + report.failed, report.sent);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message, "too large");
}

TEST_F(LightSource, GivesUpWaitingForAcknowledgements) {
  producer.delay = 24h;
  LightSourceOptions options{.count = 3};
  options.flush_timeout = 2s;
  const auto report = run(options);
  EXPECT_FALSE(report.complete());
  EXPECT_EQ(report.acked, 0U);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("not acknowledged"));
}

TEST_F(LightSource, TellsTheTimeLeft) {
  run({.per_second = 10, .count = 100});
  ASSERT_GT(told.size(), 20U);
  const auto& early = told[10];
  EXPECT_NEAR(std::chrono::duration<double>(early.elapsed + *early.left).count(), 10, 1.5);
  EXPECT_TRUE(told.back().flushing);
  EXPECT_EQ(told.back().acked, 100U);
}

TEST_F(LightSource, ReportsAsJson) {
  const auto report = run({.topic = "frames", .per_second = 20, .count = 20});
  const auto json = nlohmann::json::parse(to_json(report, false));
  EXPECT_EQ(json["schema"], "miniapp.source/1");
  EXPECT_EQ(json["run_id"], "abababababababababababababababab");
  EXPECT_EQ(json["acked"], 20);
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["shape"]["columns"], 16);
  EXPECT_FALSE(json.contains("error"));
  EXPECT_NEAR(json["messages_per_s"].get<double>(), 20 / json["seconds"].get<double>(), 0.01);
  EXPECT_THAT(to_table(report), HasSubstr("acknowledged   20 of 20 messages"));
  const auto line = nlohmann::json::parse(to_json_line(told.back(), 19.5));
  EXPECT_EQ(line["event"], "progress");
  EXPECT_EQ(line["acked"], 20);
  EXPECT_EQ(line["rate"], 19.5);
}

TEST(RunIds, AreRandomAndPrintedAsDigits) {
  EXPECT_NE(random_run_id(), random_run_id());
  RunId run_id{};
  run_id[0] = 0x0F;
  EXPECT_EQ(to_string(run_id), "0f000000000000000000000000000000");
}

}  // namespace
}  // namespace miniapps::sources
