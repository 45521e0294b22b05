#include "pilot/agent/succession.hpp"

#include <gtest/gtest.h>

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;

class SuccessionTest : public testing::Test {
 protected:
  SuccessionTest() {
    state_.allocations["a0"].nodes = 3;
    state_.allocations["a1"].nodes = 2;
    state_.allocations["a1"].first_node = 4;
    for (const char* id : {"node-1", "node-2", "node-3", "node-4", "node-5"})
      state_.nodes[id].phase = model::NodePhase::up;
    state_.head.emplace();
  }

  auto place(const std::string& node) const { return place_in_line(state_, "node-1", node); }

  model::PilotState state_;
};

TEST_F(SuccessionTest, TheBaseComesFirstAndTheKeeperIsNotInLine) {
  EXPECT_EQ(place("node-1"), std::nullopt);
  EXPECT_EQ(place("node-2"), 0);
  EXPECT_EQ(place("node-3"), 1);
  EXPECT_EQ(place("node-5"), 3);
  EXPECT_EQ(place_in_line(state_, "node-4", "node-1"), 0) << "the first node of all may come back to it";
}

TEST_F(SuccessionTest, NodesThatAreNotUpComeLastAndThoseThatLeaveNever) {
  state_.nodes["node-2"].phase = model::NodePhase::lost;
  state_.nodes["node-3"].draining = true;
  state_.nodes["node-4"].phase = model::NodePhase::released;
  EXPECT_EQ(place("node-5"), 0);
  EXPECT_EQ(place("node-2"), 1);
  EXPECT_EQ(place("node-3"), std::nullopt);
  EXPECT_EQ(place("node-4"), std::nullopt);
}

TEST_F(SuccessionTest, NodesThatTheLogDoesNotKnowYetAreInLineByTheirAllocation) {
  state_.nodes.clear();
  EXPECT_EQ(place("node-3"), 1);
  EXPECT_EQ(place("node-6"), std::nullopt);
}

TEST_F(SuccessionTest, EachWaitsLongerThanTheOneBeforeAndAllForAFirstHead) {
  const SuccessionTiming timing{60s, 15s, 5s};
  EXPECT_EQ(patience_of(state_, "node-1", "node-2", timing), 15s);
  EXPECT_EQ(patience_of(state_, "node-1", "node-5", timing), 30s);
  EXPECT_EQ(patience_of(state_, "node-1", "node-1", timing), std::nullopt);
  state_.head.reset();
  EXPECT_EQ(patience_of(state_, "node-1", "node-3", timing), 65s);
}

}  // namespace
}  // namespace pilot::agent
