// A pilot whose job waits in the queue: what a command that waits for it says, and how long it waits.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/core/start.hpp"
#include "pilot/core/status.hpp"
#include "pilot/core/stop.hpp"
#include "pilot/core/test_adaptors.hpp"

namespace pilot::core {
namespace {

using namespace std::chrono_literals;

// A desk where one waits.
class QueueBatch final : public testing_adaptors::TestBatch {
 public:
  explicit QueueBatch(plugin::AllocationStatus& now) : now_(now) {}
  Result<std::string> submit(const plugin::AllocationRequest&) override { return std::string("7"); }
  Result<std::vector<plugin::AllocationStatus>> poll(const plugin::AllocationRequest&,
                                                     const std::vector<std::string>&) override {
    return std::vector{now_};
  }
  Result<void> launch_agent(const plugin::AllocationRequest&, const std::string&, int) override {
    EXPECT_NE(now_.phase, model::AllocationPhase::pending) << "a job that waits has no agents";
    return make_error(ErrorCode::unavailable, "the desk is empty");
  }

 private:
  plugin::AllocationStatus& now_;
};

class Queue : public testing::Test, public Observer {
 protected:
  Queue() {
    ::setenv("PILOT_HOME", home_.c_str(), 1);
    const char* path = std::getenv("PATH");
    path_ = path == nullptr ? "" : path;
    EXPECT_TRUE(make_directory(home_ / "bin").has_value());
    EXPECT_TRUE(write_file(home_ / "bin/pilot-agent", "#!/bin/sh\n", 0755).has_value());
    ::setenv("PATH", ((home_ / "bin").string() + ":" + path_).c_str(), 1);
    registry_.add(std::make_unique<QueueBatch>(now_));
    spec_.name = "demo";
    spec_.resource = "desk";
  }
  ~Queue() override {
    ::unsetenv("PILOT_HOME");
    ::setenv("PATH", path_.c_str(), 1);
    EXPECT_TRUE(remove_tree(home_).has_value());
  }

  void event(const model::Event& event, const model::PilotState&) override {
    told_.push_back(model::describe(event.body));
  }
  void waiting(const model::PilotState&) override {
    clock_.advance(1s);
    if (--rounds_ == 0) now_.phase = model::AllocationPhase::running;
  }
  bool interrupted() override { return rounds_ < -20; }

  const std::filesystem::path home_ =
      std::filesystem::temp_directory_path() / ("pilot-queue-" + random_hex(8));
  plugin::AllocationStatus now_{"7", model::AllocationPhase::pending, "all chairs are taken", {}};
  plugin::Registry registry_;
  ManualClock clock_;
  Context context_{&registry_, &clock_, this};
  model::PilotSpec spec_;
  std::vector<std::string> told_;
  std::string path_;
  int rounds_ = 10;
};

TEST_F(Queue, TheJobAndWhyItWaitsAreToldOnce) {
  auto pilot = start_pilot(context_, spec_, {});
  ASSERT_TRUE(pilot.has_value()) << pilot.error().text();
  rounds_ = 7;
  const auto waited = wait_for(context_, pilot.value(), Goal::ready, 8s);
  EXPECT_EQ(waited.error().code, ErrorCode::timed_out);
  EXPECT_THAT(told_, testing::ElementsAre("allocation a0 submitted as job 7",
                                          "allocation a0 pending: all chairs are taken"));
}

TEST_F(Queue, ATimeoutForTheServicesBeginsWhenTheNodesAreThere) {
  auto pilot = start_pilot(context_, spec_, {});
  ASSERT_TRUE(pilot.has_value()) << pilot.error().text();
  rounds_ = 12;
  const auto waited = wait_for(context_, pilot.value(), Goal::ready, 5s, true);
  EXPECT_EQ(waited.error().code, ErrorCode::unavailable) << waited.error().text();
  EXPECT_LE(rounds_, 0) << "it was given up in the queue";
}

TEST_F(Queue, StatusAndStopDontMissAHeadThatIsNotYet) {
  ASSERT_TRUE(start_pilot(context_, spec_, {}).has_value());
  const auto view = view_pilot(context_, "demo");
  ASSERT_TRUE(view.has_value()) << view.error().text();
  EXPECT_TRUE(view.value().live) << view.value().note;
  EXPECT_EQ(view.value().state.allocations.at("a0").reason, "all chairs are taken");
  const auto stopped = stop_pilot(context_, "demo", {});
  EXPECT_TRUE(stopped.has_value()) << stopped.error().text();
}

TEST_F(Queue, ASubmissionWithoutAnAnswerIsNotCalledRefused) {
  plugin::Registry silent;
  silent.add(std::make_unique<testing_adaptors::TestBatch>());
  context_.registry = &silent;
  const auto pilot = start_pilot(context_, spec_, {});
  ASSERT_TRUE(pilot.has_error());
  EXPECT_EQ(pilot.error().code, ErrorCode::unavailable);
  EXPECT_THAT(pilot.error().hint, testing::HasSubstr("whether it was submitted is not known"));
}

}  // namespace
}  // namespace pilot::core
