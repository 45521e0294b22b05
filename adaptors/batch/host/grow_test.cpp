// A running job gets the nodes of another one.
#include <gmock/gmock.h>

#include "adaptors/batch/host/test_support.hpp"

namespace pilot::adaptors::host {
namespace {

using model::AllocationPhase;
using test::BatchHostTest;
using testing::HasSubstr;

// Job 7, which has n1 and n2, gets n3 from job 8.
class GrowTest : public BatchHostTest {
 protected:
  GrowTest() {
    request.allocation = "a1";
    request.nodes = 1;
    request.joins_job = "7";
    when("ask", "echo job 8");
    // given: job 8 was handed over; granted: it has a node
    when("poll",
         "for id; do case $id in 7) [ -e given ] && echo '7 running n[1-3]' || echo '7 running n[1-2]';;\n"
         "8) if [ -e given ]; then echo 8 ended; elif [ -e granted ]; then echo '8 running n3'; else echo 8 "
         "pending; fi;;\n"
         "esac; done");
    when("give", "touch given");
  }
  void grant() { ASSERT_TRUE(write_file(folder / "granted", "").has_value()); }
};

TEST_F(GrowTest, TakesOverWhatAnotherJobWasGranted) {
  ASSERT_TRUE(host.can_grow(request).has_value());
  ASSERT_EQ(host.ask_to_grow(request).value(), "8");
  EXPECT_EQ(calls("ask 7 n[1-2] endless"), 1);
  auto status = host.grow(request, "8").value();
  EXPECT_EQ(status.phase, AllocationPhase::pending);
  EXPECT_EQ(calls("give"), 0);
  grant();
  manual.advance(std::chrono::minutes(1));
  status = host.grow(request, "8").value();
  EXPECT_EQ(status.phase, AllocationPhase::running);
  EXPECT_EQ(status.job_id, "7");
  EXPECT_EQ(calls("give 8"), 1);
  EXPECT_EQ(nodes_of(request).value(), std::vector<std::string>{"n3"});
  when("run", "");
  ASSERT_TRUE(host.launch_agent(request, "7", 0).has_value());
  EXPECT_EQ(last_call(), "run 7 n3");
}

// Whoever did it may have been killed before it could say so.
TEST_F(GrowTest, WhatWasHandedOverIsNotHandedOverAgain) {
  ASSERT_EQ(host.ask_to_grow(request).value(), "8");
  grant();
  ASSERT_EQ(host.grow(request, "8").value().job_id, "7");
  manual.advance(std::chrono::minutes(1));
  EXPECT_EQ(host.grow(request, "8").value().job_id, "7");
  EXPECT_EQ(calls("give"), 1);
}

TEST_F(GrowTest, FindsTheJobOfWhomeverWasKilled) {
  EXPECT_EQ(host.grow(request, "").value().job_id, "") << "there is none";
  when("find", "echo 8");
  EXPECT_EQ(host.grow(request, "").value().job_id, "8");
  EXPECT_EQ(host.ask_to_grow(request).value(), "8");
}

TEST_F(GrowTest, WhatCannotBeHandedOverIsCancelled) {
  ASSERT_EQ(host.ask_to_grow(request).value(), "8");
  grant();
  when("give", "echo 'a step exists' >&2; exit 1");
  when("cancel", "touch given");
  const auto refused = host.grow(request, "8");
  ASSERT_TRUE(refused.has_error());
  EXPECT_THAT(refused.error().text(), HasSubstr("making job 7 bigger: tool exited 1: a step exists"));
  EXPECT_EQ(calls("cancel 8"), 1);
}

TEST_F(GrowTest, ASystemThatDoesNotAnswerIsAskedAgain) {
  ASSERT_EQ(host.ask_to_grow(request).value(), "8");
  grant();
  when("give", "exit 5");
  EXPECT_EQ(host.grow(request, "8").error().code, ErrorCode::unavailable);
  EXPECT_EQ(calls("cancel"), 0);
}

TEST_F(GrowTest, AJobThatGotOtherNodesThanWereWantedIsGivenUp) {
  ASSERT_EQ(host.ask_to_grow(request).value(), "8");
  grant();
  request.nodes = 2;
  when("cancel", "touch given");
  EXPECT_THAT(host.grow(request, "8").error().text(), HasSubstr("job 8 got n3 for 2 nodes"));
  EXPECT_EQ(calls("cancel 8"), 1);
}

TEST_F(GrowTest, SaysWhyAJobCannotGrow) {
  when("permission", "echo 'not here' >&2; exit 1");
  EXPECT_THAT(host.can_grow(request).error().text(),
              HasSubstr("making job 7 bigger: tool exited 1: not here"));
  when("permission", "");
  when("ask", "echo 'no' >&2; exit 1");
  EXPECT_THAT(host.ask_to_grow(request).error().text(), HasSubstr("making job 7 bigger: tool exited 1: no"));
  when("poll", "echo 7 ended");
  EXPECT_THAT(host.ask_to_grow(request).error().text(), HasSubstr("it does not run"));
}

// Its first node is no job's first one, and what the job had before stays.
TEST_F(GrowTest, NodesThatAJobGotCanBeGivenBack) {
  ASSERT_EQ(host.ask_to_grow(request).value(), "8");
  grant();
  ASSERT_EQ(host.grow(request, "8").value().job_id, "7");
  EXPECT_TRUE(host.can_release(request, "7", {0}, false).has_value());
  when("release", "rm given");
  const auto released = host.release(request, "7", {0});
  ASSERT_TRUE(released.has_value()) << released.error().text();
  EXPECT_EQ(calls("release 7 keep n1 n2 drop n3"), 1);
}

}  // namespace
}  // namespace pilot::adaptors::host
