#include "pilot/agent/client_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pilot::agent {
namespace {

using testing::ElementsAre;

TEST(ClientRequestsTest, ARequestThatComesByTwoWaysIsDoneOnceAndAnsweredOnBoth) {
  ClientRequests requests;
  EXPECT_TRUE(requests.is_new("a", "over the network"));
  EXPECT_FALSE(requests.is_new("a", "by the folder"));
  EXPECT_EQ(requests.answer_to("a"), std::nullopt);
  EXPECT_THAT(requests.answered("a", "yes"), ElementsAre("over the network", "by the folder"));
  EXPECT_FALSE(requests.is_new("a", "once more"));
  EXPECT_EQ(requests.answer_to("a"), "yes");
}

TEST(ClientRequestsTest, OldOnesAreForgotten) {
  ClientRequests requests;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(requests.is_new(std::to_string(i), "peer"));
    requests.answered(std::to_string(i), "yes");
  }
  EXPECT_FALSE(requests.is_new("999", "peer"));
  EXPECT_TRUE(requests.is_new("0", "peer"));
  EXPECT_TRUE(requests.answered("500", "late").empty());
}

// A shrink asks the batch system and the frameworks first, while others look at the pilot's state.
TEST(ClientRequestsTest, WhoStillWaitsIsNotForgotten) {
  ClientRequests requests;
  EXPECT_TRUE(requests.is_new("shrink", "client"));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(requests.is_new(std::to_string(i), "peer"));
    requests.answered(std::to_string(i), "yes");
  }
  EXPECT_FALSE(requests.is_new("shrink", "by the folder"));
  EXPECT_THAT(requests.answered("shrink", "yes"), ElementsAre("client", "by the folder"));
}

}  // namespace
}  // namespace pilot::agent
